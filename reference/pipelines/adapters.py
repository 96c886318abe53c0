"""Decides how a loader's graph can be changed before it is used, without knowing who has made it."""

from torch.utils.data.graph_settings import apply_shuffle_settings

from .graph import Pipe, walk


class Adapter:
    """Changes the graph of a loader once, when it is made; what adapters are made from."""

    def __call__(self, datapipe: Pipe) -> Pipe:
        """Return the graph that the loader shall have."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it changes: give it a __call__.")


class Shuffle(Adapter):
    """Turns every `shuffle` of a graph on or off; on, it adds one where there is none. None changes nothing."""

    def __init__(self, enable: bool | None = True) -> None:
        self.enable = enable

    def __call__(self, datapipe: Pipe) -> Pipe:
        return apply_shuffle_settings(datapipe, self.enable)


class CacheTimeout(Adapter):
    """Lets every `end_caching` of a graph wait that many seconds for a file that another process fetches."""

    def __init__(self, timeout: float) -> None:
        if timeout is None or not timeout >= 0:
            raise ValueError(f"timeout is {timeout!r}, but must be a number of seconds, 0 or more.")
        self.timeout = timeout

    def __call__(self, datapipe: Pipe) -> Pipe:
        for pipe in walk(datapipe):
            if callable(getattr(type(pipe), "set_timeout", None)):
                pipe.set_timeout(self.timeout)
        return datapipe
