"""Random states: the judge over which workers, ranks and epochs begin alike, and draw the same numbers."""

from collections.abc import Iterator
from dataclasses import replace

from conformance.audit.epochs import epochs_of
from conformance.audit.finding import Finding
from conformance.audit.resumed import first_parts
from conformance.audit.summary import EpochKey, RankSeen, WorkerSeen
from conformance.audit.view import View
from conformance.audit.words import listed

_NEVER_AGAIN = 2  # epochs without a draw
# Who began: the epoch, the rank, the worker (-1: the process itself).
_Stream = tuple[EpochKey, int, int]


def judge(view: View) -> Iterator[Finding]:
    """Workers that begin an epoch with a random state that another one, or another epoch, began with as well."""
    streams = {
        (epoch.key, rank, worker): told
        for epoch in epochs_of(view)
        for rank, seen in epoch.ranks.items()
        for worker, told in _states(seen).items()
    }
    kinds = (
        ("WORK-8", "workers", "two workers of a rank", lambda one, other: one[:2] == other[:2]),
        ("WORK-9", "ranks", "the workers of two ranks", lambda one, other: one[0] == other[0] and one[1] != other[1]),
        (
            "WORK-10",
            "epochs",
            "the workers of two epochs",
            lambda one, other: one[0] != other[0] and one[0][0] == other[0][0] and one[1] == other[1],
        ),
    )
    # One cause is one finding: a generator that is copied into all workers is there again in the next epoch.
    for library in sorted({name for told in streams.values() for name in told.random}):
        for clause, key, whose, compared in kinds:
            pair = _pair(streams, library, compared)
            if pair is not None:
                yield _alike_states(view, clause, key, whose, library, pair, streams)
                break
        else:
            yield from _seeded_again(view, library, streams)
    yield from _drawn_once(view)


def _drawn_once(view: View) -> Iterator[Finding]:
    """Of a start, every reader drew in the first epoch, and none in the others that were looked at."""
    starts: dict[int, dict[EpochKey, list[bool]]] = {}
    for epoch in epochs_of(view):
        drew = [bool(one.drew) for seen in epoch.ranks.values() for one in seen.workers.values() if one.random]
        if drew:
            starts.setdefault(epoch.key[0], {})[epoch.key] = drew
    for epochs in starts.values():
        (named, first), *others = epochs.items()
        if len(others) >= _NEVER_AGAIN and all(first) and not any(any(drew) for _, drew in others):
            text = f"random numbers were drawn for the first batch of {view.epoch_name(named)}, and of no later epoch: "
            more = (
                "a cache that keeps what augmentations made gives the same again (right if only the data were made so)"
            )
            yield view.at_dataset("note", "drawn-once", text + more)
            return


def _seeded_again(view: View, library: str, streams: dict[_Stream, WorkerSeen]) -> Iterator[Finding]:
    """A restart that seeds as the start before it did: another epoch has its random numbers. Most scripts do so."""
    first = first_parts(view.group)  # an epoch that is read again after a restart is no other one
    pair = _pair(
        streams,
        library,
        lambda one, other: (
            one[0][0] != other[0][0]
            and one[1] == other[1]
            and first.get(one[0], one[0]) != first.get(other[0], other[0])
        ),
    )
    if pair is not None:
        before, after = (view.epoch_name(stream[0]) for stream in pair)
        text = f"the restart seeds {_called(library)} again as the first start did: {after} has the random numbers of "
        more = "store the states of the generators with the model's, or seed by the epoch, where that matters"
        yield view.at_loader("note", f"seeded-again-{library}", f"{text}{before}; {more}")


def _states(seen: RankSeen) -> dict[int, WorkerSeen]:
    """The random states of a rank's workers. Those of a process that loads by itself are moved by the training too."""
    told = {worker: one for worker, one in seen.workers.items() if worker >= 0 and one.random}
    drew = seen.facts.get("drew")
    if not told and isinstance(drew, list) and isinstance(seen.facts.get("random"), dict):
        return {-1: WorkerSeen(random=seen.facts["random"], drew=drew)}
    return told


def _pair(streams: dict[_Stream, WorkerSeen], library: str, compared: object) -> tuple[_Stream, _Stream] | None:
    by_state: dict[str, list[_Stream]] = {}
    for stream in sorted(streams):
        state = streams[stream].random.get(library)
        if state is not None and library in (streams[stream].drew or ()):
            by_state.setdefault(state, []).append(stream)
    for same in by_state.values():
        for at, one in enumerate(same[:64]):
            for other in same[at + 1 : 64]:
                if compared(one, other):  # type: ignore[operator]
                    return one, other
    return None


def _alike_states(
    view: View,
    clause: str,
    key: str,
    whose: str,
    library: str,
    pair: tuple[_Stream, _Stream],
    streams: dict[_Stream, WorkerSeen],
) -> Finding:
    lines = []
    for epoch, rank, worker in pair:
        who = f"{view.where(rank)}, worker {worker}" if worker >= 0 else view.where(rank)
        lines.append(f"{view.epoch_name(epoch)}{who}: {library} {streams[epoch, rank, worker].random[library]}")
    text = f"{whose} begin with one state of {_called(library)}, and draw from it: their random numbers are the same"
    if key == "epochs" and view.evaluates:
        return view.at_dataset("note", f"random-{key}", f"{text}: right if an evaluation is to be the same each time")
    advice = "seed in worker_init_fn from torch.initial_seed(), the rank and the epoch"
    if "." in library:
        seed = "torch.initial_seed() + rank" if clause == "WORK-9" else "torch.initial_seed()"
        made = f"get_worker_info().{library} = numpy.random.default_rng({seed})"
        advice = f"make it in the worker, in worker_init_fn: {made}, or another generator of its kind"
    return view.at_dataset(
        clause, f"random-{key}", text, excerpt=tuple(lines), advice=advice, epochs=(pair[0][0],), worst=6
    )


def _called(library: str) -> str:
    return {"python": "random", "numpy": "numpy.random", "torch": "torch"}.get(library, library)


def with_cause(findings: list[Finding]) -> list[Finding]:
    """The findings of a loader: before samples that several readers gave stand the random numbers that these share."""
    alike = list(dict.fromkeys(each.id for each in findings if each.id in ("WORK-8", "WORK-9")))
    same = [each.worst for each in findings if each.id == "WORK-3" and each.key in ("all-read-all", "again")]
    if not (alike and same):
        return findings
    words = f"if samples are drawn at random, {listed(alike)} is the cause: who draws alike gives the same ones"
    return [
        replace(each, worst=max(same) + 1)
        if each.id in alike
        else replace(each, sentence=f"{each.sentence}; {words}")
        if each.id == "WORK-3" and each.key in ("all-read-all", "again")
        else each
        for each in findings
    ]
