"""Changes of loading code that nobody could tell from the original, each with the reason."""

EQUIVALENT: dict[str, str] = {}
