"""One rank's loader as the suite reads it: each call is an order to the process in which the loader is."""

from collections.abc import Iterator
from typing import Any

from conformance.bridge.exchange import Exchange, Refused
from conformance.contract import Request

# What a loader may have beside its iterators; a command says which (`has`).
PARTS = ("len", "set_epoch", "state", "merge")
_FIELDS = (
    *("batch_size", "shuffle", "drop_last", "num_workers", "rank", "world_size"),
    *("replication_factor", "device_iterations", "gradient_accumulation", "workdir"),
)


class Loader:
    """A loader in the process of an exchange, by its number."""

    def __init__(self, exchange: Exchange, number: int) -> None:
        self._exchange = exchange
        self._number = number
        self._closed = False

    def _asked(self, op: str, **fields: Any) -> dict[str, Any]:
        order = {"op": op, "loader": self._number, **fields}
        return self._exchange.ask(order, self._number, ("loader", self._number))

    def __iter__(self) -> "Steps":
        return Steps(self, self._exchange, self._number)

    def close(self) -> None:
        """Close it; a second time too."""
        self._closed = True
        self._asked("close")

    def __del__(self) -> None:
        owner = ("loader", self._number)
        if self._closed:
            self._exchange.let_go(self._number, owner)
        else:
            self._exchange.later({"op": "close", "loader": self._number}, self._number, owner)


class Steps(Iterator[list[Any]]):
    """One iterator. A step is the list of its samples; the last name for it releases what was read for it."""

    def __init__(self, loader: Loader, exchange: Exchange, number: int) -> None:
        self._loader = loader  # lives as long as it is read
        self._exchange = exchange
        self._of = number
        self._number = exchange.number()
        self._owner = ("it", self._number)
        self._begun = False
        try:
            exchange.ask({"op": "iter", "loader": number, "it": self._number}, number, self._owner)
        except BaseException:
            # No iterator came of it, so nobody will drop it.
            exchange.let_go(number, self._owner)
            raise
        self._begun = True

    def __next__(self) -> list[Any]:
        answer = self._exchange.ask({"op": "next", "it": self._number}, self._of, self._owner)
        if "end" in answer:
            raise StopIteration
        step: list[Any] = answer["step"]
        return step

    def __del__(self) -> None:
        if self._begun:
            self._exchange.later({"op": "drop", "it": self._number}, self._of, self._owner)


class _WithLength(Loader):
    def __len__(self) -> int:
        answer = self._asked("len")
        if "unknown" in answer:
            raise TypeError("the loader says that its length is unknown")
        return int(answer["len"])


class _WithEpoch(Loader):
    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self._asked("set_epoch", epoch=epoch)


class _WithState(Loader):
    def state_dict(self) -> Any:
        """A state, as the JSON data that the loader gave."""
        return self._asked("state")["state"]

    def load_state_dict(self, state: Any) -> None:
        """Go on from a state."""
        self._asked("restore", state=state)


_CLASSES: dict[str, type[Loader]] = {"len": _WithLength, "set_epoch": _WithEpoch, "state": _WithState}


def opened(exchange: Exchange, request: Request, has: tuple[str, ...]) -> Loader:
    """A loader of the request. It has the methods that its command says it has, and no others."""
    fields = {name: getattr(request, name) for name in _FIELDS}
    for name, value in fields.items():
        # A language with one type of number reads 2.0 as 2, so it is asked for nothing that it could not refuse.
        if type(value) is float and value.is_integer():
            raise Refused(f"{name} is {value}, which is no whole number (refused on this side of the bridge)")
    # A seed may be larger than a double can tell.
    fields |= {"seed": str(request.seed), "samples": _length(request.dataset)}
    # Only where it is claimed that something is made of it.
    fields |= {"shards": list(request.shards)} if request.shards else {}
    fields |= {"weights": list(request.weights)} if request.weights else {}
    number = exchange.number()
    exchange.datasets[number] = request.dataset
    bases = tuple(_CLASSES[part] for part in PARTS if part in has and part in _CLASSES)
    made: type[Loader] = type("Loader", (*bases, Loader), {})
    order = {"op": "open", "loader": number, "request": fields}
    try:
        exchange.ask(order, number, ("loader", number))
    except BaseException:
        # No loader came of it, so nobody will close it.
        exchange.let_go(number, ("loader", number))
        raise
    return made(exchange, number)


def _length(dataset: Any) -> int | None:
    return len(dataset) if hasattr(dataset, "__getitem__") else None
