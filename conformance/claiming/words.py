"""How claims and the cases that refute them are told: decides the words for a value, and for what was delivered."""

import re
from typing import Any

# What a line begins with that says nothing without the one after it.
_BEFORE = "before "


def literal(value: Any) -> str:
    """A value as an adapter has it: ``"pad"``, ``True``."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def refuted(case: Any) -> str:
    """``PART-1-n1,w2,b1,keep: rank 1: 0 <- sample 0 again``."""
    delivered = case.finding.delivered
    pointed = next((line for line in delivered if "<-" in line), "")
    first = next((at for at, line in enumerate(delivered) if not line.startswith(_BEFORE)), 0)
    told = pointed or "; ".join(delivered[: first + 1]) or case.finding.expected
    return f"{case.id}: {re.sub(' +', ' ', told)}"
