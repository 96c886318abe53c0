"""What ids are shown as, and of how many a record keeps it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from conformance.audit.files import skim
from conformance.records.content import digest
from conformance.records.reader import files
from conformance.records.texts import Texts, text_of, thinned, word_of
from conformance.records.wrapper import record
from conformance.watch.identity import id_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a.npy", "a.npy"),
        ("two words", "'two words'"),
        ("", "''"),
        ("x" * 70, "x" * 60 + "..."),
        (Path("a/b"), "a/b"),
        (0.25, "0.25"),
        (torch.tensor([0.1]), "0.100000001"),
        (np.float32(0.1), "0.100000001"),
        (("a.tar", 3), "a.tar/3"),
        (2**70, str(2**70)),
        (torch.zeros(2), None),
        ({"a": 1}, None),
    ],
)
def test_what_is_short_and_readable_has_a_text(value: Any, expected: str | None) -> None:
    """Anything else has a hash."""
    assert expected == text_of(value)


@pytest.mark.parametrize("value", [7, torch.tensor(7), torch.tensor([7]), np.array([[7]]), np.int32(7)])
def test_a_number_is_its_own_id(value: Any) -> None:
    """Also in a tensor of one."""
    assert 7 == id_of(value)


def test_a_table_keeps_the_lowest_digests() -> None:
    """Whatever comes in which order, and however it is parted."""
    words = [word_of(digest(number)) for number in range(100)]
    kept = [Texts(20) for _ in range(2)]
    for table, some in zip(kept, (words, words[::-1]), strict=True):
        for word in some:
            table.add(word, "text")
    assert kept[0].known == kept[1].known
    assert 5 < len(kept[0].known) <= 20
    assert thinned([{"00": "b"}, {"00": "a", "01": "c"}]) == thinned([{"01": "c", "00": "a"}, {"00": "b"}])


def test_a_wrapped_loader_tells_the_texts_of_a_field(tmp_path: Path) -> None:
    """Once for each, whatever the epochs."""
    batches = [{"name": ["a", "b"], "score": torch.tensor([[0.5], [2.0]])}]
    for field in ("name", "score"):
        loader = record(batches, field, folder=tmp_path / field)
        for _ in range(2):
            list(loader)
        assert loader._recorder is not None
        loader._recorder.close()
    (names,) = [skim(path).texts for path in files(tmp_path / "name")]
    (scores,) = [skim(path).texts for path in files(tmp_path / "score")]
    assert (["a", "b"], ["0.5", "2.0"]) == (sorted(names.values()), sorted(scores.values()))
