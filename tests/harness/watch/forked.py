"""Starts scripts as torchrun would, with torch imported once: reads jobs from its input, and forks their ranks.

A job is a JSON list on a line: script, ranks, port, words, and the variables that are set for it. Its ranks have ended
when the next one is started. This program runs under the hook of `watch` itself, and its ranks inherit that.
"""

import json
import os
import runpy
import signal
import sys

import torch._dynamo  # an optimizer imports it, for seconds
import torch.distributed
import torch.utils.data  # noqa: F401

_PATIENCE = 100


def main() -> None:
    """Run the jobs, and print a line with the exit codes of each."""
    for line in sys.stdin:
        script, ranks, port, words, variables = json.loads(line)
        started = []
        for rank in range(ranks):
            pid = os.fork()
            if pid == 0:
                become(rank, ranks, port, variables)
                sys.argv = [script, *words]
                sys.path[0] = os.path.dirname(script)
                signal.alarm(_PATIENCE)
                runpy.run_path(script, run_name="__main__")
                return
            started.append(pid)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in started]
        print(json.dumps(codes), flush=True)


def become(rank: int, ranks: int, port: int, variables: dict[str, str]) -> None:
    """Have the environment of a rank, and no output of its own."""
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in place.items()} if ranks > 1 else {})
    os.environ.update(variables)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    if "LOADERSPEC_TEST_LOUD" not in os.environ:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)


if __name__ == "__main__":
    main()
