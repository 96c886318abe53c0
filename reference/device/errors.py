"""Decides what `poptorch.Error` is: what a model, or a step of it, is refused for. It is a ValueError as well."""


class Error(RuntimeError):
    """An error of the device; `message`, `type` and `location` are what scripts print of it."""

    type = "emulation"
    location = ""

    @property
    def message(self) -> str:
        """The text."""
        return str(self)


class RecoverableError(Error):
    """A failure of the hardware that a reset may end. Never raised: there is no hardware."""

    recovery_action = ""


class UnrecoverableError(Error):
    """A failure of the hardware that stays. Never raised: there is no hardware."""


class ModelError(Error, ValueError):
    """A model, or a step of it, that can't be run."""
