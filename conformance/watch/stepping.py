"""Steps of the job's optimizers: decides which batches of an epoch are known to be trained on.

A loop that goes on in the middle of an epoch may read its first batches and throw them away; no loader knows of that.
"""

import sys
from collections.abc import Callable
from typing import Any

_followed: list[Any] = []
_FRAMES = 16  # between what is noted and the scaler that called the optimizer


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


def scaled() -> bool:
    """Whether the step that is being noted is a gradient scaler's, which leaves out those whose gradients overflow."""
    frame = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame.f_code.co_filename.endswith("grad_scaler.py"):
            return True
        if frame.f_back is None:
            break
        frame = frame.f_back
    return False
