"""The reproduction script of a case."""

from pathlib import Path

from conformance.campaign import Case
from conformance.contract import Claims


def write(
    case: Case, implementation_spec: str, folder: Path | str = "loaderspec-repro", claims: Claims | None = None
) -> Path:
    """To come."""
    return Path(folder) / f"{case.id}.py"
