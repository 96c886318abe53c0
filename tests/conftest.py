"""Shared by all tests: Hypothesis tries the same examples each time, asserts no times and leaves no files."""

from hypothesis import settings

from conformance import interrupts

settings.register_profile("tests", derandomize=True, deadline=None, database=None)
settings.load_profile("tests")

# Tests that are run in the background interrupt what they start all the same.
interrupts.heed()
