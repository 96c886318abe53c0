"""Training scripts as people write them: what `watch` says of each, and that it says nothing of the right ones."""

import importlib.util
from pathlib import Path

import pytest

from conformance.audit.text import shown
from tests.deep import deep_where
from tests.harness.watch.jobs import SCRIPTS, Jobs, found, judged

# Of each script that is broken: how many ranks it is started with, the clause, and its line.
BROKEN = {
    "no_sampler": (2, "PART-1", 12),
    "no_set_epoch": (2, "ORDER-6", 14),
    "stream_workers": (1, "WORK-3", 8),
    "stream_ranks": (2, "WORK-3", 8),
    "stream_both": (2, "WORK-3", 8),
    "few_shards": (2, "COUNT-5", 24),
    "weighted_ranks": (2, "PART-1", 15),
    "numpy_augment": (1, "WORK-8", 16),
    "eval_drop_last": (1, "PART-2", 11),
    "eval_padding": (2, "PART-1", 15),
    "loader_each_epoch": (1, "ORDER-6", 16),
    "accelerate_twice": (2, "PART-2", 11),
    "length_grouped": (2, "ORDER-4", 37),
    "overlapping_split": (1, "SPLIT", 10),
    "seeds_differ": (2, "ORDER-4", 13),
    "shards_shuffled_apart": (2, "WORK-3", 16),
    "length_lies": (2, "COUNT-4", 21),
    "accumulation_tail": (1, "PART-8", 12),
    "cycled": (1, "ORDER-6", 10),
    "persistent_copies": (1, "STREAM-5", 25),
    "replica_differs": (2, "REPLICA", 11),
    "worker_dies": (1, "COUNT-7", 19),
}
# Of the right ones, with how many ranks each is started.
RIGHT = {
    "right_accelerate": 2,
    "right_accumulation": 1,
    "right_ddp": 2,
    "right_endless": 2,
    "right_equal_contents": 2,
    "right_files_of_rank": 2,
    "right_filled_steps": 2,
    "right_join": 2,
    "right_look_first": 2,
    "right_peek": 1,
    "right_resumed": 1,
    "right_sanity_batches": 1,
    "right_stream": 2,
    "right_subset_of_rank": 2,
    "right_tensor_parallel": 2,
    "right_trainer": 2,
    "right_weighted": 1,
}
# What is tested by itself: the starts below, a split of each rank's own, and what only `check` can see here, as these
# ranks are forked from one interpreter.
STARTED_TWICE = {
    "resume_skips": [("RESUME-1", "resume_skips.py:22")],
    "resume_reshuffles": [("RESUME-1", "resume_reshuffles.py:21")],
    "resume_old_order": [("RESUME-1", "resume_old_order.py:22")],
    "right_resume_replays": [],
}
APART = {*STARTED_TWICE, "splits_differ", "hash_seed"}
# Each starts a job, for two seconds and more: these run always, and all with `--deep`.
ALWAYS = (
    *("cycled", "no_set_epoch", "stream_both", "numpy_augment", "eval_padding", "overlapping_split"),
    *("right_join", "right_accumulation", "right_ddp", "right_equal_contents", "right_peek", "right_tensor_parallel"),
)


def needs(script: str) -> None:
    """Skip a script whose library is not there."""
    if "accelerate" in script and importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate is not installed")


@pytest.mark.parametrize("script", deep_where(lambda script: script not in ALWAYS, BROKEN, str))
def test_a_broken_script_gets_its_finding(script: str, started: Jobs, tmp_path: Path) -> None:
    """One finding: its clause, at its line."""
    needs(script)
    ranks, clause, line = BROKEN[script]
    codes = started.run(SCRIPTS / f"{script}.py", tmp_path, ranks)
    assert [1 if script == "worker_dies" else 0] * ranks == codes
    verdict = judged(tmp_path)
    assert [(clause, f"{script}.py:{line}")] == found(verdict), shown(verdict)


@pytest.mark.parametrize("script", deep_where(lambda script: script not in ALWAYS, RIGHT, str))
def test_a_right_script_gets_no_finding(script: str, started: Jobs, tmp_path: Path) -> None:
    """Its loaders were seen, and nothing is held against them."""
    needs(script)
    assert [0] * RIGHT[script] == started.run(SCRIPTS / f"{script}.py", tmp_path, RIGHT[script])
    verdict = judged(tmp_path)
    assert verdict.recorded
    assert [] == found(verdict), shown(verdict)


@pytest.mark.parametrize("script", STARTED_TWICE)
def test_a_restart_is_judged_by_what_the_job_had(script: str, started: Jobs, tmp_path: Path) -> None:
    """The second start goes on in the folder of the first."""
    checkpoint = str(tmp_path / "checkpoint.json")
    for _ in range(2):
        assert [0] == started.run(SCRIPTS / f"{script}.py", tmp_path / "record", words=[checkpoint])
    verdict = judged(tmp_path / "record")
    assert STARTED_TWICE[script] == found(verdict), shown(verdict)


def test_a_split_of_each_ranks_own_is_found(started: Jobs, tmp_path: Path) -> None:
    """In training, and by what is evaluated: some of it another rank trains on."""
    assert [0, 0] == started.run(SCRIPTS / "splits_differ.py", tmp_path, 2)
    places = {(clause, place) for clause, place in found(judged(tmp_path))}
    assert {("PART-1", "splits_differ.py:12"), ("SPLIT", "splits_differ.py:13")} <= places


def test_every_script_is_tested() -> None:
    """No script is left out."""
    assert {path.stem for path in SCRIPTS.glob("*.py")} == {*BROKEN, *RIGHT, *APART}
