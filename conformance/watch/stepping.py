"""Steps of the job's optimizers: decides which batches of an epoch are known to be trained on.

A loop that goes on in the middle of an epoch may read its first batches and throw them away; no loader knows of that.
"""

import sys
from collections.abc import Callable
from typing import Any

_followed: list[Any] = []


def follow(stepped: Callable[[], None]) -> None:
    """Call a function after each step of any of torch's optimizers in this process. Only the first call counts."""
    module: Any = sys.modules.get("torch.optim.optimizer")
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if _followed or register is None:
        return
    compiling = getattr(getattr(sys.modules.get("torch"), "compiler", None), "is_compiling", lambda: False)

    def after(optimizer: Any, given: Any, more: Any) -> None:
        # What is compiled runs without this: then nobody knows.
        if not compiling():
            stepped()

    _followed.append(register(after))
