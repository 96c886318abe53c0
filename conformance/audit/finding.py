"""What a judge of a record says: one thing that is wrong with a loader, or a note about it, and where."""

from dataclasses import dataclass

from conformance.audit.summary import EpochKey


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or, as a note, one that is told without being held against the loader.

    `id` is a clause or, where no clause says it, a word. `key` names the kind: what is found of several epochs is one
    finding. `worst` sorts, highest first.
    """

    id: str
    key: str
    sentence: str
    file: str
    line: int
    excerpt: tuple[str, ...] = ()
    advice: str = ""
    epochs: tuple[EpochKey, ...] = ()
    worst: int = 5
