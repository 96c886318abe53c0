"""One pytest item a clause in a library's own tests: `parametrize_with_clauses`, as scikit-learn's users know it."""

import atexit
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conformance.clauses import CLAUSES, Clause
from conformance.processes.sources import ForkedSource, source_of
from conformance.report.output import block
from conformance.trial.session import Options, Session


class SharedSession:
    """The session behind the items: begun by the first that runs, and ended with the process."""

    def __init__(self, implementation: Any, claims: Mapping[str, Any] | None, options: Options) -> None:
        self.source, self.name = source_of(implementation, claims)
        # A name stands for a loader with its own claims.
        self.spec = found_by(implementation) if claims is None else ""
        self.options = options
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """The session. AdapterError if the adapter can't be used."""
        if self._session is None:
            self._session = Session(self.source, self.spec or self.name, self.options)
            atexit.register(self._session.close)
            self._session.look(CLAUSES.values())
        return self._session

    def owes(self, clause: Clause) -> bool:
        """Whether an item is made: what is given by name is not imported for that."""
        return not isinstance(self.source, ForkedSource) or clause.applies(self.source.implementation.claims)


class ClauseCheck:
    """One clause of one loader: a call passes, fails with the block, or is skipped where nothing is claimed."""

    def __init__(self, clause: Clause, shared: SharedSession) -> None:
        self.clause = clause
        self.shared = shared

    def __repr__(self) -> str:
        return f"<{self.clause.id} of {self.shared.name}>"

    def __call__(self) -> None:
        """Judge it. The first clause of a family runs that family."""
        __tracebackhide__ = True
        session = self.shared.session
        outcome = session.outcome(self.clause)
        if outcome.status == "NOT CLAIMED":
            pytest.skip("not claimed")
        if outcome.status == "KNOWN":
            pytest.xfail(outcome.note)
        if outcome.fails(session.options.strict):
            # The run that replays the case writes its script.
            pytest.fail(block(outcome, self.shared.spec, is_written=False), pytrace=False)


def found_by(implementation: Any) -> str:
    """What `--impl` finds an object by from the folder the person stands in; "" if by nothing."""
    if isinstance(implementation, str):
        return implementation
    if isinstance(implementation, ModuleType):
        return _place_of(implementation)
    name = getattr(implementation, "__name__", "")
    module = sys.modules.get(getattr(implementation, "__module__", None) or "")
    if module is None or getattr(module, name, None) is not implementation:
        return ""
    place = _place_of(module)
    return f"{place}:{name}" if place else ""


def _place_of(module: ModuleType) -> str:
    """The name of a module, or the path of its file where pytest alone would find the name."""
    name, here = module.__name__, Path.cwd()
    file = Path(getattr(module, "__file__", None) or "")
    is_alone = "." not in name and not hasattr(module, "__path__")
    if is_alone and here in file.parents and file.suffix == ".py":
        return name if file.parent == here and name != "__main__" else str(file.relative_to(here))
    return "" if name == "__main__" else name


def parametrize_with_clauses(
    implementation: Any,
    claims: Mapping[str, Any] | None = None,
    *,
    tier: str = "gate",
    seed: int = 0,
    patience: float = 10.0,
    strict: bool = False,
) -> pytest.MarkDecorator:
    """Mark a test that takes `clause`: it becomes one item for each clause that binds the loader, and calls it.

    `implementation` and `claims` are those of `conformance.check`, `patience` is in seconds. Raises AdapterError where
    the test is collected if the claims can't be, and where it runs if the loader can't be used.
    """
    shared = SharedSession(implementation, claims, Options(tier=tier, seed=seed, patience=patience, strict=strict))
    clauses = sorted((each for each in CLAUSES.values() if shared.owes(each)), key=lambda clause: clause.number)
    return pytest.mark.parametrize("clause", [pytest.param(ClauseCheck(each, shared), id=each.id) for each in clauses])
