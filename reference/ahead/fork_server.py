"""The server that producers are forked from: started once for a process, with torch imported before the first fork.

Without that each producer would import torch and this package by itself, which takes seconds of processor time.
"""

import os
from contextlib import suppress
from multiprocessing import forkserver
from typing import Any

from .producing import produce


def ensure_running() -> None:
    """Start the server of this process, unless it runs."""
    server: Any = forkserver._forkserver
    # What a user has chosen to import stays as it is.
    if server._preload_modules == ["__main__"]:
        server.set_forkserver_preload(["__main__", "torch", produce.__module__])
    try:
        forkserver.ensure_running()
    except ChildProcessError:
        # This process was forked from the one whose server that is, and can't tell whether it runs.
        with suppress(OSError):
            os.close(server._forkserver_alive_fd)
        server._forkserver_pid = server._forkserver_address = server._forkserver_alive_fd = None
        forkserver.ensure_running()
