"""Samplers that draw: decides of how many samples torch's own can give any, and how many the loader's dataset has."""

import sys
from typing import Any

# The class of the sampler, and what says from how many it draws.
_OF = {"WeightedRandomSampler": "weights", "RandomSampler": "data_source"}


def draws_of(sampler: Any, dataset: Any) -> dict[str, Any] | None:
    """``{"what": "weights", "from": 10, "of": 1000}``; None if the sampler is another one, or has no length.

    A sampler of the user's own that is made from one of these may give what it likes. One that shuffles is told by what
    it delivers.
    """
    torch: Any = sys.modules.get("torch.utils.data")
    for name, what in _OF.items():
        plain = getattr(torch, name, None)
        if plain is not None and isinstance(sampler, plain) and type(sampler).__iter__ is plain.__iter__:
            if what == "data_source" and not sampler.replacement:
                return None
            return _told(what, getattr(sampler, what, None), dataset)
    return None


def _told(what: str, source: Any, dataset: Any) -> dict[str, Any] | None:
    try:
        return {"what": what, "from": len(source), "of": len(dataset)}
    except Exception:  # it has no length, or needs what the job does not have yet
        return None
