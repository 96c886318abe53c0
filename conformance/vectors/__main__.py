"""The command `python -m conformance.vectors`: writes the suite's own vectors, or says which differ."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from conformance.vectors import conversations, verdicts

FOLDER = Path(__file__).resolve().parents[2] / "specs" / "vectors"

_FILES: dict[str, tuple[str, Callable[[], Iterable[dict[str, Any]]]]] = {
    "bridge.json": ("for both sides of the bridge", conversations.cases),
    "verdicts.json": ("for judging loaders in another language", verdicts.cases),
}


def files() -> dict[str, str]:
    """The text of each file by its name: one case a line, so that a change shows as changed lines."""
    return {name: _text(scope, cases()) for name, (scope, cases) in _FILES.items()}


def _text(scope: str, cases: Iterable[dict[str, Any]]) -> str:
    lines = ",\n".join(f"    {json.dumps(case)}" for case in cases)
    return f'{{\n  "format": 1,\n  "scope": {json.dumps(scope)},\n  "cases": [\n{lines}\n  ]\n}}\n'


def differences(folder: Path) -> list[str]:
    """The files that are missing or differ from what this code says."""
    texts = {name: (folder / name).read_text("utf-8") if (folder / name).is_file() else "" for name in _FILES}
    return [name for name, text in files().items() if texts[name] != text]


def main() -> int:
    """Write or check the files; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m conformance.vectors", description="The suite's golden vectors.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if parser.parse_args().check:
        for name in differences(FOLDER):
            print(f"{FOLDER / name} differs: find out which is right before you rewrite it", file=sys.stderr)
        return int(bool(differences(FOLDER)))
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
