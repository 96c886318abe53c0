"""What a drawn fault raises: each word has a class, and its sentence is in the text."""

import queue

import pytest

from conformance.loader.conducts import A_FEW_ERRORS, BASE_ERRORS, ERRORS, FAULT_WORDS
from conformance.loader.errors import broken


@pytest.mark.parametrize("word", [*ERRORS, *BASE_ERRORS])
def test_a_word_names_the_class_that_is_raised(word: str) -> None:
    """Those of ERRORS are each an Exception; the others are none."""
    error = broken(word, "raise@3")
    assert {**ERRORS, **BASE_ERRORS}[word] == type(error).__name__
    assert "sample 3 is broken on purpose" in str(error)
    assert (word in ERRORS) == isinstance(error, Exception)


def test_what_is_not_built_in_is_told_with_its_module() -> None:
    """An Empty could be anybody's."""
    assert queue.Empty is type(broken("empty", "raise@3"))
    assert "with a queue.Empty" == FAULT_WORDS["empty"]


def test_a_few_of_them_are_known_ones() -> None:
    """What the quick tier raises is raised at the gate as well."""
    assert set() == {*A_FEW_ERRORS} - {*ERRORS}
