"""Where the suite is, and what both halves of the plugin keep: the light one and the one of a run of ours."""

from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[1]
COLLECTED = pytest.StashKey[list[pytest.Item]]()
