"""Guarantees as whole sentences: a report has them as fragments, which a line joins; a page has room for more."""

import re

# What a guarantee begins with, and the sentence that it becomes; the first that fits is taken.
_SENTENCES = (
    (r"(?:(unshuffled), )?(with|without) drop_last delivers (.*)", "{0}{1} drop_last, it delivers every sample {2}"),
    (r"(?:(unshuffled), )?(with|without) drop_last drops (.*)", "{0}{1} drop_last, it drops {2}"),
    (r"(without drop_last) (ranks differ .*)", "{0}, {1}"),
    (r"equal steps on every rank(?: (with(?:out)? drop_last))?", "every rank yields the same number of steps {0}"),
    (
        r"iterable: (with|without) drop_last (?:every element )?(.*)",
        "of iterables, {0} drop_last, every element comes {1}",
    ),
    (r"iterable: every element (.*)", "of iterables, every element comes {0}"),
    (r"deterministic per \(seed, epoch\)", "the same seed and epoch give the same order"),
    (r"whatever the number of workers", "the number of workers does not change the order"),
    (r"the same unshuffled shard every time", "unshuffled, a rank gets the same samples every time"),
    (r"shuffled uniformly over all ranks", "a shuffle is uniform, over all ranks"),
    (r"(resumes .*)", "it {0}"),
    (r"pipelines: (each element .*)", "a pipeline delivers {0}"),
    (
        r"pipelines: deterministic per \(seed, epoch\), (.*)",
        "the same seed and epoch give a pipeline the same order, {0}",
    ),
)


def sentence(guarantee: str) -> str:
    """The guarantee as a sentence of its own."""
    for pattern, words in _SENTENCES:
        found = re.fullmatch(pattern, guarantee)
        if found:
            parts = [part or "" for part in found.groups()]
            if parts and parts[0] == "unshuffled":
                parts[0] = "unshuffled and "
            guarantee = words.format(*parts).strip()
            break
    return f"{guarantee[0].upper()}{guarantee[1:]}."
