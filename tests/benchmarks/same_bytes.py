"""Is the verdict the same, byte for byte, run after run and with any number of xdist workers?

    python -m tests.benchmarks.same_bytes --runs 20 --tier quick -k "PART or ORDER" torch my_loader.py

Each loader is judged so often with `-n 0`, `-n 1` and `-n 2`, each time in new processes. What differs by right, the
seconds, is no part of the JSON. The exit code is 1 if two reports differ.
"""

import argparse
import subprocess
import sys
import tempfile
from hashlib import blake2b
from pathlib import Path

_WORKERS = ("0", "1", "2")


def report_of(loader: str, words: list[str], workers: str, folder: Path) -> str:
    """The digest of one run's JSON."""
    told = folder / "report.json"
    told.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance", f"--impl={loader}", "-q", "-n", workers]
    done = subprocess.run([*command, *words, f"--report-json={told}"], capture_output=True, text=True, cwd=folder)
    if not told.exists():
        raise SystemExit(f"no report of {loader} with -n {workers}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return blake2b(told.read_bytes(), digest_size=6).hexdigest()


def main(words: list[str]) -> int:
    """Judge each loader so often with each number of workers. The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=20, help="with each number of workers (default 20)")
    parser.add_argument("--tier", default="quick", help="as for the suite (default quick)")
    parser.add_argument("-k", default="", help="the clauses, as for pytest (default all)")
    parser.add_argument("loaders", nargs="+", help="what is judged, as for --impl; a file by its whole path")
    given = parser.parse_args(words)
    asked = [f"--tier={given.tier}", *(["-k", given.k] if given.k else [])]
    differ = 0
    for loader in given.loaders:
        found: dict[str, list[str]] = {}
        with tempfile.TemporaryDirectory() as folder:
            for workers in _WORKERS:
                for _ in range(given.runs):
                    found.setdefault(report_of(loader, asked, workers, Path(folder)), []).append(workers)
        differ += len(found) > 1
        parts = [f"{digest} {len(which)} times (-n {', '.join(sorted(set(which)))})" for digest, which in found.items()]
        print(f"{loader}: {'; '.join(parts)}", flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
