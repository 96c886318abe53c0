"""What is asked for: `Options` and its parts, and where their values come from."""

from .options import Options

__all__ = ["Options"]
