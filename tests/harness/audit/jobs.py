"""Records of jobs that never ran: what each rank got, epoch by epoch, written as a recorder writes it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.audit.verdict import Verdict, audit_folder
from conformance.records.content import digest
from conformance.records.writer import Recorder

Steps = Sequence[Sequence[Any]]
LINE = {"file": "train.py", "line": 9, "class": "DataLoader", "kind": "map", "ids": "index"}
LOOP = {"file": "train.py", "line": 14}


def cut(samples: Iterable[Any], size: int, drop_last: bool = False) -> list[list[Any]]:
    """Samples in batches."""
    samples = list(samples)
    steps = [samples[at : at + size] for at in range(0, len(samples), size)]
    return [step for step in steps if len(step) == size] if drop_last else steps


def whole(steps: Steps, /, workers: Sequence[int] | None = None, how: str = "whole", **facts: Any) -> dict[str, Any]:
    """One epoch of one rank; `workers` says who gave each step."""
    return {"steps": steps, "workers": workers, "how": how, "facts": facts}


def of_workers(parts: Sequence[Steps], **facts: Any) -> dict[str, Any]:
    """An epoch whose steps come from workers in turn, of which each has its part."""
    steps, workers = [], []
    for at in range(max(len(part) for part in parts)):
        for worker, part in enumerate(parts):
            if at < len(part):
                steps.append(part[at])
                workers.append(worker)
    return whole(steps, workers, **facts)


def start(
    folder: Path,
    epochs: Sequence[dict[str, Any]],
    rank: int | None = 0,
    world_size: int | None = None,
    close: bool = True,
    **loader: Any,
) -> Recorder:
    """One process of a job, and its one loader."""
    recorder = Recorder(folder)
    hello = {"rank": rank, "world_size": world_size}
    recorder.hello({name: value for name, value in hello.items() if value is not None})
    number = recorder.loader({**LINE, **loader})
    for epoch in epochs:
        facts: Mapping[str, Any] = epoch["facts"]
        told = {name: value for name, value in facts.items() if name not in ("random", "drew")}
        at = recorder.epoch(number, {**LOOP, **told})
        for worker, states in (facts.get("random") or {}).items():
            recorder.worker(recorder.iterator(number, at), worker, {"random": states, "drew": facts.get("drew")})
        workers = epoch["workers"] or [None] * len(epoch["steps"])
        for step, worker in zip(epoch["steps"], workers, strict=True):
            recorder.batch(number, at, [_id(recorder, each, loader.get("ids")) for each in step], worker)
        if epoch["how"]:
            recorder.end_of_epoch(number, at, epoch["how"])
    if close:
        recorder.close()
    else:
        recorder.flush()
    return recorder


def _id(recorder: Recorder, sample: Any, ids: str | None) -> Any:
    if ids == "content":
        return digest(sample)
    if type(sample) is int:
        return sample
    recorder.text(digest(sample), sample)
    return digest(sample)


def job(folder: Path, ranks: Sequence[Sequence[dict[str, Any]]], **loader: Any) -> Path:
    """A job of several ranks, of each its epochs."""
    for rank, epochs in enumerate(ranks):
        start(folder, epochs, rank, len(ranks), **loader)
    return folder


def found(verdict: Verdict) -> list[tuple[str, str]]:
    """The clause and the kind of each finding, in order."""
    return [(finding.id, finding.key) for finding in verdict.findings]


def told(verdict: Verdict) -> set[str]:
    """The kinds of what is told and not held against anybody."""
    return {note.key for group in verdict.groups for note in group.notes}


def audited(folder: Path, *same_data: Sequence[int]) -> Verdict:
    """The verdict over a folder."""
    return audit_folder(folder, same_data)
