"""The table of PopTorch's names that are not served tells the truth."""

import re

import pytest

import reference
from tests.docs.programs import ROOT
from tests.reference.device.device_probes import Regression

CHAPTER = (ROOT / "specs" / "6-device.md").read_text(encoding="utf-8")
TABLE = CHAPTER.partition("**Names that are not served.**")[2].partition("## ")[0]
NAMES = [name for row in re.findall(r"^\| (`.*?) \|", TABLE, re.M) for name in re.findall(r"`([\w.]+)`", row)]
SPECIAL = {"Options": reference.Options(), "PoplarExecutor": reference.inferenceModel(Regression())}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_table_is_not_served(name: str) -> None:
    """Who serves it takes it out of the table."""
    owner, _, attribute = name.rpartition(".")
    if owner:
        with pytest.raises(AttributeError, match=attribute):
            getattr(SPECIAL[owner], attribute)
    else:
        assert name not in reference.__all__


def test_the_table_is_found() -> None:
    """Whatever else changes in the chapter."""
    assert {"custom_op", "Options.anchorMode", "PoplarExecutor.rng_state"} <= set(NAMES)
