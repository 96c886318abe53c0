"""Shared by all tests: Hypothesis tries the same examples each time, asserts no times and leaves no files."""

from hypothesis import settings

settings.register_profile("tests", derandomize=True, deadline=None, database=None)
settings.load_profile("tests")
