"""Where the files of a record are read: in this process, or by tasks of a Ray cluster, a few ranks each.

A task makes the partial result that `--partial` would write of its ranks; they are merged here. So the verdict does not
depend on the engine, and there is no scheduler of ours. All nodes of the cluster must see the folder under its name.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.audit.files import Skimmed, place, skim
from conformance.audit.gather import Progress, gather, gathered
from conformance.audit.partial import from_bytes, merged, to_bytes
from conformance.audit.summary import Summary
from conformance.records.reader import files

Engine = Callable[[Path, Progress], Summary]


class NoEngine(RuntimeError):
    """An engine that is not installed, or not known."""


def engine(name: str) -> Engine:
    """The engine of this name: "local" or "ray". NoEngine if it is not there; the message says how to get it."""
    if name == "local":
        return gather
    if name != "ray":
        raise NoEngine(f"there is no engine {name!r}; there are local and ray")
    try:
        import ray
    except ImportError as error:
        raise NoEngine(f"the engine ray needs Ray ({error}): pip install 'loaderspec[ray]' adds it") from error
    return lambda folder, progress: on_ray(ray, folder, progress)


def on_ray(ray: Any, folder: Path, progress: Progress) -> Summary:
    """The summary of a record, made by a task for each rank; Ray is started here unless it runs."""
    parts = by_rank(folder)
    begun_here = not ray.is_initialized()
    if begun_here:
        ray.init(include_dashboard=False, logging_level="warning")
    try:
        task = ray.remote(one_part)
        waiting = [task.remote([str(path) for path in part]) for part in parts]
        done: list[Summary] = []
        while waiting:
            ready, waiting = ray.wait(waiting)
            done += [from_bytes(data) for data in ray.get(ready)]
            progress(len(done), len(parts))
    finally:
        if begun_here:
            ray.shutdown()
    return merged(done)


def one_part(paths: list[str]) -> bytes:
    """What a task does: the partial result of some files, all of some ranks."""
    skimmed = [skim(Path(path)) for path in paths]
    place(skimmed)
    return to_bytes(gathered(skimmed))


def by_rank(folder: Path) -> list[list[Path]]:
    """The files of a record, those of a rank together: all its starts, and its workers.

    Processes that told no rank are one part, as it takes all of them to say which of them are starts of one.
    """
    skimmed = [skim(path) for path in files(folder)]
    place(skimmed)
    owner = {key: file for file in skimmed for key in file.iterators}
    parts: dict[int, list[Path]] = {}
    for file in skimmed:
        parts.setdefault(max(-1, _whose(file, owner).rank), []).append(file.path)
    return [parts[rank] for rank in sorted(parts)]


def _whose(file: Skimmed, owner: dict[str, Skimmed]) -> Skimmed:
    """The file of the process that a worker works for; the file itself if it is no worker's."""
    keys = [key for key, _, _ in file.made] + [str(fact.get("iterator")) for fact in file.workers]
    return next((owner[key] for key in keys if key in owner), file)
