"""What loaders were seen to leave behind, round after round: shared by the processes of a zygote.

A loader that left as much a few times, and long after, will do it again: waiting each time would take minutes.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator

# The variable by which a member knows the file; what is not in a fleet keeps its own count.
SEEN_IN = "LOADERSPEC_SEEN_IN"
FILE = "seen"
_ours: Counter[str] = Counter()


def note(topics: Iterable[str]) -> None:
    """These were left behind in all rounds."""
    path = os.environ.get(SEEN_IN)
    if path is None:
        _ours.update(topics)
        return
    with open(path, "a", encoding="utf-8") as file:
        file.write("".join(f"{topic}\n" for topic in topics))


def times() -> Counter[str]:
    """How often each was seen."""
    path = os.environ.get(SEEN_IN)
    if path is None:
        return _ours
    with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
        return Counter(file.read().split("\n"))
    return Counter()


@contextlib.contextmanager
def aside(folders: Iterable[str]) -> Iterator[None]:
    """Meanwhile nothing was seen: what is to be confirmed is waited for as long as at first."""
    files = [os.path.join(folder, FILE) for folder in folders]
    for file in files:
        with contextlib.suppress(OSError):
            os.replace(file, f"{file}-before")
    try:
        yield
    finally:
        for file in files:
            with contextlib.suppress(OSError):
                os.replace(f"{file}-before", file)
