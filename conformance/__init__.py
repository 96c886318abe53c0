"""The conformance suite: `check(loader)` in a REPL, `pytest conformance --impl=mypkg` in CI; `record(loader)` in a job.

`conformance/trial/__init__.py` says how a run works, and `clauses.py` lists the chapters.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from conformance.records.wrapper import record as record
    from conformance.trial.outcome import Report

__all__ = ["check", "parametrize_with_clauses", "record"]


def __getattr__(name: str) -> Any:
    """`record`, when it is asked for: what a job imports for it is the standard library."""
    if name != "record":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from conformance.records.wrapper import record

    return record


def check(
    implementation: str | Callable[..., Any] | object,
    claims: Mapping[str, Any] | None = None,
    *,
    tier: str = "gate",
    seed: int = 0,
    patience: float = 10.0,
    strict: bool = False,
) -> "Report":
    """Judge an implementation and return the report; print it for the table, `.passed` says whether it is green.

    `implementation` is what `--impl` takes, or an object with `load` (a module, a class), or a `load` function;
    `claims` are its claims, if it does not carry them. `patience` is in seconds.

    Raises AdapterError if the adapter is wrong.
    """
    # Imported here: the processes in which loaders run import this package too, and need none of it.
    from conformance.processes.sources import source_of
    from conformance.report.text import printed
    from conformance.trial.session import Options, Session

    source, name = source_of(implementation, claims)
    with Session(source, name, Options(tier=tier, seed=seed, patience=patience, strict=strict)) as session:
        return printed(session.report())


def parametrize_with_clauses(
    implementation: str | Callable[..., Any] | object, claims: Mapping[str, Any] | None = None, **options: Any
) -> "pytest.MarkDecorator":
    """Mark a test of your own that takes `clause` and calls it: one pytest item for each clause that binds the loader.

    It takes what `check` takes (`conformance/plugin/marks.py`).
    """
    from conformance.plugin import marks

    return marks.parametrize_with_clauses(implementation, claims, **options)
