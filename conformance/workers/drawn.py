"""What is tried of workers, of iterable-style datasets and of trouble: the families of chapters 4 and 10.

A scenario with worker processes costs a tenth of a second and more, so these families are small, and one run of a
scenario serves all their clauses.
"""

from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.loader.scenario import CONDUCTS, KINDS, Scenario, Style

# What may go wrong or be done, simplest first; what happens twice in a list is tried twice as often.
_CONDUCTS = ("leave", "two", "kept", "ended", "dropped", "kept", "leave")
_FAULTS = ("raise", "raise", "stop", "index")
# A worker that exits in silence is noticed by torch after 5 s, so that it is tried less often.
_WORKER_FAULTS = ("kill", "kill", "exit")
_HOOK_FAULTS = {"collate_fn": "collate", "worker_init_fn": "init", "timeout": "hang"}


@st.composite
def with_workers(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A map-style dataset read by worker processes, compared with none, or with the same again."""
    samples = draw(st.integers(0, 16))
    world_size = draw(st.integers(1, 2))
    batch_size = draw(st.integers(1, 3))
    num_workers = draw(st.sampled_from((2, 1, 3)))
    return Scenario(
        samples,
        world_size,
        batch_size,
        drop_last=draw(st.booleans()),
        shuffle=draw(st.booleans()) if claims.shuffle else False,
        num_workers=num_workers,
        epochs=draw(st.integers(1, 2)),
        variant=draw(st.sampled_from(("workers", "again"))),
        persistent_workers=draw(st.booleans()) if _persist(claims) else False,
    )


@st.composite
def iterable_style(draw: st.DrawFn, claims: Claims) -> Scenario:
    """An iterable-style dataset, over ranks where the loader splits it, and over workers where it says what happens."""
    samples = draw(st.integers(0, 12))
    world_size = draw(st.integers(1, 3)) if claims.iterable_workers == "split" else 1
    batch_size = draw(st.integers(1, 3))
    num_workers = draw(st.integers(0, 3)) if claims.iterable_workers else 0
    drop_last = draw(st.booleans())
    epochs = draw(st.integers(1, 2))
    return Scenario(
        samples, world_size, batch_size, drop_last=drop_last, num_workers=num_workers, epochs=epochs, dataset="iterable"
    )


@st.composite
def troubled(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A fault of the dataset, of a worker or of a hook, or a consumer that does more than read and close."""
    samples = draw(st.integers(1, 8))
    batch_size = draw(st.integers(1, 3))
    num_workers = draw(st.sampled_from((0, 1, 2))) if claims.workers else 0
    dataset: Style = "map" if "map" in claims.datasets else "iterable"
    if dataset == "iterable" and claims.iterable_workers != "split":
        num_workers = 0
    trouble = draw(st.sampled_from((*_CONDUCTS, *_possible_faults(claims, num_workers))))
    place = draw(st.integers(0, 7))
    if trouble in CONDUCTS:
        fault, conduct = "", f"{trouble}@{place % 4}" if trouble in ("leave", "two") else trouble
    else:
        fault, conduct = f"{trouble}@{place % (num_workers if trouble == 'init' else samples)}", ""
    return Scenario(
        samples,
        batch_size=batch_size,
        num_workers=num_workers,
        epochs=2,
        fault=fault,
        conduct=conduct,
        kind="buffer" if conduct == "kept" and draw(st.booleans()) else "",
        dataset=dataset,
        persistent_workers=draw(st.booleans()) if num_workers and _persist(claims) else False,
    )


def a_few_workers(claims: Claims) -> Iterator[Scenario]:
    """Two ranks with two workers each, over two epochs, compared with none and with the same again."""
    for drop_last in (False, True):
        yield Scenario(9, 2, 2, drop_last=drop_last, num_workers=2, epochs=2, variant="workers")
    yield Scenario(9, 2, 2, num_workers=2, epochs=2, variant="again")
    if _persist(claims):
        shuffle = claims.shuffle is not None
        yield Scenario(9, 2, 2, shuffle=shuffle, num_workers=2, epochs=2, variant="workers", persistent_workers=True)


def _persist(claims: Claims) -> bool:
    """Whether workers may be asked to live on from epoch to epoch."""
    return "persistent_workers" in claims.hooks


def a_few_iterables(claims: Claims) -> Iterator[Scenario]:
    """An iterable dataset with a rest for each worker, kept and dropped."""
    for drop_last in (False, True):
        num_workers = 2 if claims.iterable_workers else 0
        yield Scenario(9, batch_size=2, drop_last=drop_last, num_workers=num_workers, dataset="iterable")


def each_trouble(claims: Claims) -> Iterator[Scenario]:
    """Each fault once and each conduct thrice, without workers and with, so that none is left to chance."""
    dataset: Style = "map" if "map" in claims.datasets else "iterable"
    with_workers = claims.workers and (dataset == "map" or claims.iterable_workers == "split")
    for num_workers in (0, 2) if with_workers else (0,):
        for fault in dict.fromkeys(_possible_faults(claims, num_workers)):
            named = f"{fault}@{1 if fault == 'init' else 3}"
            yield Scenario(5, batch_size=2, num_workers=num_workers, epochs=2, dataset=dataset, fault=named)
        for conduct in dict.fromkeys(_CONDUCTS):
            named = f"{conduct}@1" if conduct in ("leave", "two") else conduct
            for samples, batch_size in ((5, 2), (4, 1), (3, 3)):
                for kind in ("", "buffer") if conduct == "kept" else ("",):
                    yield Scenario(
                        samples,
                        batch_size=batch_size,
                        num_workers=num_workers,
                        epochs=2,
                        dataset=dataset,
                        conduct=named,
                        kind=kind,
                    )


def _possible_faults(claims: Claims, num_workers: int) -> tuple[str, ...]:
    hooks = [fault for hook, fault in _HOOK_FAULTS.items() if hook in claims.hooks]
    if not num_workers:
        return (*_FAULTS, *(fault for fault in hooks if fault == "collate"))
    return (*_FAULTS, *_WORKER_FAULTS, *hooks)


def kinds_of_sample(claims: Claims, tier: object) -> Iterator[Scenario]:
    """One step of each kind of sample, in the main process and in a worker; then many epochs of large samples."""
    dataset: Style = "map" if "map" in claims.datasets else "iterable"
    worker_counts = (0, 1) if claims.workers and dataset == "map" else (0,)
    for kind in KINDS:
        for num_workers in worker_counts:
            if kind == "large":
                yield Scenario(16, batch_size=4, num_workers=num_workers, kind=kind, dataset=dataset)
            elif kind != "buffer":
                yield Scenario(3, batch_size=3, num_workers=num_workers, kind=kind, dataset=dataset)
