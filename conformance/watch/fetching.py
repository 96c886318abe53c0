"""Fetching: decides what is seen where samples are made, in a worker or in the process itself.

Elements are seen before they are collated. Random states are looked at before and after the first batch of an epoch:
equal states from which nothing is drawn harm nobody.
"""

import contextlib
import itertools
from collections.abc import Callable
from functools import wraps
from typing import Any

from conformance.records.content import digest
from conformance.records.names import NoIdentity
from conformance.watch.copies import State, epoch_state
from conformance.watch.datasets import base_indices, base_of
from conformance.watch.fingerprints import Prints, fingerprints
from conformance.watch.identity import id_of, ids_of
from conformance.watch.keys import take_key
from conformance.watch.watching import tapped, watching

HERE = "_loaderspec"
# A worker of a map-style dataset has nothing to write but its random states: a file of its own for each epoch is too
# many in a month, so later epochs are looked at when their number is a power of two.
_ALWAYS = 4
_generations = itertools.count()


def tap(fetch: Any) -> None:
    """Tap torch's `_utils.fetch`, in whichever process it is imported."""
    base = fetch._BaseDatasetFetcher
    plain = base.__init__

    @wraps(plain)
    def __init__(self: Any, *given: Any, **more: Any) -> None:
        plain(self, *given, **more)
        attach(self, isinstance(self, fetch._IterableDatasetFetcher))

    base.__init__ = __init__
    for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
        kind.fetch = _tapped_fetch(kind.fetch)


def _tapped_fetch(plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def fetch(self: Any, index: Any) -> Any:
        making: Making | None = self.__dict__.get(HERE)
        if making is None or making.idle:
            return plain(self, index)
        before(making, index)
        data = plain(self, index)
        after(making)
        if making.idle and making.collate is not None:
            self.collate_fn, making.collate = making.collate, None
        return data

    return fetch


@tapped
def attach(fetcher: Any, iterable: bool) -> None:
    """Give a fetcher its Making, and show it the elements that it collates."""
    making = Making(fetcher.dataset, iterable)
    if making.by_content or making.probing:
        plain, many = fetcher.collate_fn, fetcher.auto_collation

        # It must not hold the fetcher, which would then live until a collection, with the dataset's open files.
        def collate(data: Any) -> Any:
            seen(making, data, many)
            return plain(data)

        making.collate = plain

        fetcher.collate_fn = collate
    fetcher.__dict__[HERE] = making


@tapped
def before(making: "Making", index: Any) -> None:
    """A batch is about to be made."""
    making.begin(index)


@tapped
def seen(making: "Making", data: Any, many: bool) -> None:
    """These elements are about to be collated."""
    making.see(data if many else [data])


@tapped
def after(making: "Making") -> None:
    """A batch was made."""
    making.end()


class Making:
    """What one fetcher makes: in one epoch, in one process."""

    def __init__(self, dataset: Any, iterable: bool) -> None:
        from torch.utils.data import get_worker_info

        state = watching()
        information = get_worker_info()
        self.worker = -1 if information is None else information.id
        self.by_content = iterable or state.identify is not None
        self.probing = not iterable
        self.idle = False
        self.key: str | None = None  # of a worker's epoch; the process itself sets it
        self.made: list[Any] | None = None
        self.collate: Callable[[Any], Any] | None = None  # the fetcher's own, while ours stands before it
        self._identify = state.identify
        self._dataset = dataset
        self._generation = -1 if self.worker == -1 else next(_generations)
        self._states: Prints | None = None
        self._state: State | None = None
        self._index: Any = None
        self._probe: dict[str, str] = {}
        self._fetched = 0
        self._unnamed = False

    def begin(self, index: Any) -> None:
        """Before a batch: with the first one, who this is for, and how random states stand."""
        self.made = None
        if self._fetched == 0:
            if self.worker != -1:
                self.key = take_key(watching().folder, self._generation)
            self._index = index
            if self._looks():
                self._states = fingerprints(self._dataset)
                self._state = epoch_state(base_of(self._dataset)) if self.worker != -1 else None

    def see(self, elements: list[Any]) -> None:
        """The elements of a batch, before they are collated."""
        if self.by_content and not self._unnamed:
            try:
                self.made = self._named(elements)
            except Exception as error:
                # No name of this epoch's after that: the k-th batch that comes is the k-th that was written.
                self._unnamed = True
                watching().recorder.unnamed(str(error) if isinstance(error, NoIdentity) else _words(error))
        if self.probing and self._fetched == 0 and len(elements):
            ids = ids_of(self._index, base_indices(self._dataset))
            if len(ids) == len(elements) and not isinstance(ids[0], bytes):
                with contextlib.suppress(Exception):  # it shows no content, and need not
                    self._probe = {str(int(ids[0])): digest(elements[0]).hex()}

    def _named(self, elements: list[Any]) -> list[Any] | None:
        if self._identify is not None:
            return [self._told(self._identify(each)) for each in elements]
        try:
            return [digest(each) for each in elements]
        except Exception as error:
            kind = type(elements[0]).__name__
            raise NoIdentity(
                f"a {kind} shows no content ({error}): identify it with --id-field or --identify"
            ) from error

    def _told(self, value: Any) -> int | bytes:
        """The id that the user's field or function gives; of some epochs with what it was made of."""
        found = id_of(value)
        if isinstance(found, bytes) and (self.worker == -1 or self._early):
            watching().recorder.text(found, value)
        return found

    def end(self) -> None:
        """After a batch: write down what is in it, in a worker; with the first one, which states were drawn from."""
        recorder = watching().recorder
        if self.made is not None and self.worker != -1 and self.key is not None:
            recorder.made(self.key, self.worker, self.made)
        if self._states is not None and self.key is not None:
            now = fingerprints(self._dataset)
            drew = sorted(name for name, state in self._states.items() if now.get(name) != state)
            told = {"random": self._states, "drew": drew, "probe": self._probe, "dataset_state": self._state}
            recorder.worker(self.key, self.worker, told)
        self._states = None
        self._fetched += 1
        self.idle = not self.by_content

    @property
    def _early(self) -> bool:
        epoch = int((self.key or "0").rpartition("/")[2])
        return epoch < _ALWAYS or epoch & (epoch - 1) == 0

    def _looks(self) -> bool:
        if self.key is None:
            return False
        return self.by_content or self._early


def _words(error: Exception) -> str:
    return f"--identify or --id-field: {type(error).__name__}: {error}"
