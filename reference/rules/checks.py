"""Decides what a valid number is, and with which sentence anything else is refused.

Every module asks `check_integer`, so a bad factor is refused in the same words everywhere. Each error names
the value, the rule and the fix.
"""

from numbers import Integral


def show(value: object) -> str:
    """Return the value as it may stand in an error: short, and never itself an error."""
    try:
        text = repr(value)
    except Exception:
        # A repr may raise: Python refuses to print an int of more than 4300 digits.
        text = f"an unprintable {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"


def check_integer(name: str, value: object, least: int | None = 1, most: int | None = None) -> int:
    """Return the value as an int between `least` and `most` (both allowed; None means no bound).

    Raises TypeError when it is not an integer and ValueError when it is out of bounds. Integers of other
    libraries (numpy.int64) are integers; booleans are not, although Python counts them as such.
    """
    example = least if least is not None else 0
    # BATCH-5: a boolean or a fraction is refused, also where its value happens to be whole.
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} is {show(value)} of type {type(value).__name__}, but must be of type int: "
            f"give a whole number, {example} for example."
        )
    number = int(value)
    # BATCH-4: every factor is at least 1; the caller lowers `least` for counts that may be zero.
    if least is not None and number < least:
        raise ValueError(f"{name} is {show(number)}, but must be at least {least}: give {least} or more.")
    if most is not None and number > most:
        raise ValueError(f"{name} is {show(number)}, but must be at most {most}: give {most} or less.")
    return number


def check_rank(rank: object, world_size: object) -> tuple[int, int]:
    """Return (rank, world size) as ints with 0 <= rank < world size; raise TypeError or ValueError if not."""
    ranks = check_integer("world size", world_size)
    # BATCH-4: ranks count from 0, so the last one is world size - 1.
    number = check_integer("rank", rank, least=0)
    if number >= ranks:
        raise ValueError(
            f"rank is {show(number)}, but must be less than the world size {show(ranks)}: "
            f"ranks count from 0, so give at most {show(ranks - 1)}."
        )
    return number, ranks


def check_flag(name: str, value: object) -> bool:
    """Return the value if it is True or False; raise TypeError if not."""
    check_type(name, value, bool)
    return bool(value)


def check_type(name: str, value: object, kind: type | tuple[type, ...]) -> None:
    """Raise TypeError, naming both types, unless the value is of the kind (or of one of the kinds)."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    # True would pass for an int; it is taken only where a bool, or anything at all, is asked for.
    is_misplaced_flag = isinstance(value, bool) and not {bool, object} & set(kinds)
    if isinstance(value, kinds) and not is_misplaced_flag:
        return
    wanted = " or ".join(each.__name__ for each in kinds)
    raise TypeError(
        f"{name} is {show(value)} of type {type(value).__name__}, but must be of type {wanted}: "
        f"give a value of type {wanted}."
    )
