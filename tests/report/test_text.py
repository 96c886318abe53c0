"""The failure block has one shape and at most 12 lines of 110 columns; the table says one line a clause."""

import dataclasses
import re
from pathlib import Path

import pytest

from conformance.contract import Claims
from conformance.loader.scenario import Scenario, from_code
from conformance.report import text
from conformance.report.spec_text import ClauseText, clause_text
from conformance.report.text import BLOCK_LINES, COLUMNS, failure_block, printed, summary
from conformance.trace import Trace
from conformance.trial.clause import Finding
from conformance.trial.outcome import Outcome, Report
from conformance.trial.result import Case

EXCLUSIVE = "Within an epoch no sample is delivered to two ranks."


@pytest.fixture
def sentence(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentence of every clause while the test runs; its last item counts."""
    sentences = [EXCLUSIVE]

    def fixed(clause_id: str) -> ClauseText:
        level = clause_text(clause_id).level
        return ClauseText(clause_id, level, sentences[-1], "2-partition.md", clause_id.lower(), "")

    monkeypatch.setattr(text, "clause_text", fixed)
    return sentences


def made(clause: str, code: str, delivered: tuple[str, ...], expected: str, why: str) -> Case:
    """A case with an empty trace."""
    scenario = from_code(code)
    return Case(clause, scenario, Finding("kind", expected, delivered, why), Trace(scenario, ()))


DUPLICATE = made(
    "PART-1",
    "n1,w2,b1,keep",
    ("rank 0: 0", "rank 1: 0        <- sample 0 again"),
    "each sample at most once",
    'when_keeping="drop" is claimed, so nothing may be repeated',
)
LONG = made(
    "COUNT-7",
    "n100,w4,b5,drop,shuffle,g3,p2,i2,k3,e3,s2147483646,random-state",
    tuple(f"rank {rank}: {'1 2 3 4 ' * 12}{' <- sample 0 again' if rank == 2 else ''}" for rank in range(6)),
    "each sample at most once " * 12,
    "nothing may be repeated " * 12,
)


def test_a_block_with_a_short_sentence(sentence: list[str]) -> None:
    """The link ends the first line, and the commands can be copied."""
    expected = """\
PART-1 VIOLATED  Within an epoch no sample is delivered to two ranks.              specs/2-partition.md#part-1
  smallest case   1 sample, 2 ranks, micro-batch 1, drop_last=False
  expected        each sample at most once
  delivered       rank 0: 0
                  rank 1: 0        <- sample 0 again
  why             when_keeping="drop" is claimed, so nothing may be repeated
  reproduce       python loaderspec-repro/PART-1-n1,w2,b1,keep.py
  replay          pytest conformance --impl=mypkg --case=PART-1-n1,w2,b1,keep"""
    assert expected == failure_block(DUPLICATE, "mypkg")


def test_a_block_with_a_long_sentence(sentence: list[str]) -> None:
    """The sentence goes on in a second line, which the link ends."""
    sentence.append(f"{EXCLUSIVE} {EXCLUSIVE} {EXCLUSIVE}")
    block = failure_block(DUPLICATE, "mypkg").split("\n")
    assert [
        "PART-1 VIOLATED  Within an epoch no sample is delivered to two ranks. Within an epoch no sample is delivered",
        f"  to two ranks. Within an epoch no sample is delivered to two ranks.{'specs/2-partition.md#part-1':>42}",
    ] == block[:2]


def test_a_block_of_a_should_says_so(sentence: list[str]) -> None:
    """A SHOULD is not accused like a MUST."""
    case = dataclasses.replace(DUPLICATE, clause="ORDER-11")
    assert failure_block(case, "mypkg").startswith("ORDER-11 VIOLATED (SHOULD)  Within an epoch")


def test_a_block_stays_within_its_bounds(sentence: list[str]) -> None:
    """However much there is to say, twelve lines of 110 columns say it, and dots stand for the rest."""
    sentence.append(f"{EXCLUSIVE} " * 4)
    block = failure_block(LONG, "folder/of/an/adapter/with/a/long/name/adapter.py").split("\n")
    assert len(block) <= BLOCK_LINES
    assert max(map(len, block)) <= COLUMNS
    assert any("<- sample 0 again" in line for line in block)
    assert any("... and 5 more lines" in line for line in block)


def test_a_long_command_is_continued_and_never_cut(sentence: list[str]) -> None:
    """A command that does not fit goes on behind a backslash."""
    block = failure_block(LONG, "folder/of/an/adapter/with/a/long/name/adapter.py").split("\n")
    assert [
        "  replay          pytest conformance --impl=folder/of/an/adapter/with/a/long/name/adapter.py \\",
        f"                  --case=COUNT-7-{LONG.scenario.code}",
    ] == block[-2:]


def test_what_a_shell_would_read_is_quoted(sentence: list[str]) -> None:
    """A path with a blank can be copied as well."""
    assert "--impl='my loaders/adapter.py' " in failure_block(DUPLICATE, "my loaders/adapter.py")


def test_the_middle_of_a_long_delivery_gives_way_to_its_note(sentence: list[str]) -> None:
    """What is pointed at is never hidden by the samples before it."""
    case = dataclasses.replace(
        DUPLICATE, finding=dataclasses.replace(DUPLICATE.finding, delivered=("rank 0: " + "10 " * 60 + " <- 61 steps",))
    )
    line = next(line for line in failure_block(case, "mypkg").split("\n") if line.startswith("  delivered"))
    assert line.startswith("  delivered       rank 0: 10 10 ")
    assert line.endswith("10 10 <- 61 steps")
    assert " ... " in line
    assert len(line) <= COLUMNS


def test_what_is_left_out_is_counted_once(sentence: list[str]) -> None:
    """Ranks that the judge leaves out and lines that do not fit are one number."""
    delivered = (*(f"rank {rank}: 0" for rank in range(5)), "... and 5 more ranks")
    finding = dataclasses.replace(DUPLICATE.finding, delivered=delivered, why="why " * 40)
    block = failure_block(dataclasses.replace(DUPLICATE, finding=finding), "mypkg")
    assert ["                  ... and 6 more lines"] == [line for line in block.split("\n") if "..." in line]


def test_words_go_on_below(sentence: list[str]) -> None:
    """A sentence about what was delivered is not cut where there is room for it."""
    told = "rank 0: 3 threads are left (MyPool (work), MyWatch), after a second round as after the first, and the third"
    block = failure_block(
        dataclasses.replace(DUPLICATE, finding=dataclasses.replace(DUPLICATE.finding, delivered=(told,))), "mypkg"
    )
    assert told in " ".join(block.split())


def test_the_replay_runs_wherever_one_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """pytest finds the suite by its folder in a clone, and by its name anywhere else."""
    monkeypatch.chdir(Path(__file__).parents[2])
    assert "  replay          pytest conformance --impl=mypkg " in failure_block(DUPLICATE, "mypkg")
    (tmp_path / "conformance").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "  replay          pytest --pyargs conformance --impl=mypkg " in failure_block(DUPLICATE, "mypkg")


def test_no_word_is_cut(sentence: list[str]) -> None:
    """Dots stand for whole words and whole numbers: half of sample 1234 would be another sample."""
    delivered = ("rank 0: " + " | ".join(str(1234 + at) for at in range(40)) + "  <- sample 1234 again",) * 9
    words = "antidisestablishmentarianism " * 40
    case = dataclasses.replace(LONG, finding=Finding("kind", words, delivered, words))
    block = failure_block(case, "mypkg")
    shown = block[block.index("  expected") : block.index("  reproduce")].replace("<- sample 1234 again", "")
    labels = {"expected", "delivered", "why", "rank", "0:", "|", "...", "and", "7", "more", "lines"}
    whole = {str(number) for number in range(1234, 1274)}
    assert set(shown.split()) - labels <= {"antidisestablishmentarianism", *whole}


def report(*outcomes: Outcome, **changes: object) -> Report:
    """A report of these outcomes."""
    claims = Claims(when_dropping="drop", when_keeping="pad")
    made = Report("mypkg", claims, "gate", 0, outcomes)
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]  # names of its fields


OUTCOMES = (
    Outcome("COUNT-5", "MUST", "HOLDS", 1410),
    Outcome("PART-1", "MUST", "VIOLATED", 310, DUPLICATE),
    Outcome("PART-2", "MUST", "HOLDS", 299),
    Outcome("PART-7", "MUST", "NOT EXERCISED", 3, note="3 cases could have shown a fault, but 20 are needed"),
    Outcome("ORDER-3", "MUST", "NOT CLAIMED", 0),
    Outcome("ORDER-10", "MUST", "KNOWN", 88, note="mypkg seeds torch on purpose"),
    Outcome("ORDER-11", "SHOULD", "VIOLATED", 88, dataclasses.replace(LONG, clause="ORDER-11")),
)


def test_the_table() -> None:
    """One line a clause that is judged, its last column a case; then the notes, what is guaranteed, and the counts."""
    expected = """\
clause    outcome            exercised  smallest case
COUNT-5   HOLDS                   1410
PART-1    VIOLATED                 310  n1,w2,b1,keep
PART-2    HOLDS                    299
PART-7    NOT EXERCISED              3
ORDER-10  KNOWN                     88
ORDER-11  VIOLATED (SHOULD)         88  n100,w4,b5,drop,shuffle,g3,p2,i2,k3,e3,s2147483646,random-state

how to read a case: n1,w2,b1,keep is 1 sample, 2 ranks, micro-batch 1, drop_last=False
note: PART-7: 3 cases could have shown a fault, but 20 are needed
note: ORDER-10: mypkg seeds torch on purpose
note: restarts within a shuffled epoch were not judged
not claimed: shuffle (1)
guarantees: unshuffled, without drop_last delivers at least once; equal steps on every rank
mypkg: 2 HOLD, 1 VIOLATED, 1 VIOLATED (SHOULD), 1 KNOWN, 1 NOT EXERCISED, 1 NOT CLAIMED"""
    notes = ("restarts within a shuffled epoch were not judged",)
    assert expected == summary(report(*OUTCOMES, notes=notes))


def test_the_ids_of_what_is_not_claimed_are_told_at_length() -> None:
    """Who asks for more is told which clauses a claim would add."""
    assert "\nnot claimed: ORDER-3 (shuffle)\n" in summary(report(*OUTCOMES), verbose=True)


def test_the_shortest_case_shows_how_to_read_them() -> None:
    """A plain case explains the others, whatever stands first."""
    first = Outcome("COUNT-7", "MUST", "VIOLATED", 1, LONG)
    assert "how to read a case: n1,w2,b1,keep is 1 sample" in summary(report(first, OUTCOMES[1]))


def test_a_note_is_told_once() -> None:
    """What stood in a block above the table is not said again."""
    assert "note: PART-7" in summary(report(*OUTCOMES))
    assert "note: PART-7" not in summary(report(*OUTCOMES), told=frozenset({"PART-7"}))
    assert "note: ORDER-10" in summary(report(*OUTCOMES), told=frozenset({"PART-7"}))


def test_a_code_is_never_cut() -> None:
    """A case that is cut can't be replayed."""
    code = "n100,w4,b5,drop,shuffle,g3,p2,i2,k3,e3,s2147483646,iterable,raise@1000000,leave@1000000,kind=buffer,again"
    case = made("PART-1", code, ("rank 0: 0",), "", "")
    assert f"  {code}\n" in summary(report(Outcome("PART-1", "MUST", "VIOLATED", 1, case)))


def test_a_long_note_is_wrapped() -> None:
    """A long reason is not cut."""
    reason = "the adapter is wrong " * 8
    lines = summary(report(Outcome("PART-1", "MUST", "INVALID", 0, note=reason))).split("\n")
    assert ["PART-1  INVALID          0", ""] == lines[1:3]
    assert lines[3].startswith("note: PART-1: the adapter is wrong")
    assert max(map(len, lines)) <= COLUMNS


def test_a_run_without_a_judged_clause_has_no_table() -> None:
    """Where nothing is claimed, what would be judged with which claim is all there is to say."""
    assert [
        'not claimed: shuffle="global" (1)',
        "guarantees: nothing is guaranteed: none of the judged clauses supports a guarantee",
        "mypkg: 1 NOT CLAIMED",
    ] == summary(report(Outcome("PART-8", "MUST", "NOT CLAIMED", 0))).split("\n")


def test_colour_is_asked_for() -> None:
    """Without being asked the table holds no escape codes; with them it says the same."""
    plain, coloured = summary(report(*OUTCOMES)), summary(report(*OUTCOMES), color=True)
    assert "\033" not in plain
    assert plain == re.sub(r"\033\[\d+m", "", coloured)


def test_a_report_prints_as_its_table() -> None:
    """`print(check(load))` shows the table."""
    assert summary(report(*OUTCOMES)) == str(printed(report(*OUTCOMES)))
    assert report(*OUTCOMES).outcomes == printed(report(*OUTCOMES)).outcomes


def test_a_run_without_outcomes_says_so() -> None:
    """A report of nothing promises nothing."""
    assert [
        "guarantees: nothing is guaranteed: none of the judged clauses supports a guarantee",
        "mypkg: no clause was judged",
    ] == summary(report()).split("\n")


def test_a_case_without_a_script_is_only_replayed() -> None:
    """The block names no script that is not written."""
    case = dataclasses.replace(DUPLICATE, clause="PART-1", scenario=dataclasses.replace(DUPLICATE.scenario, samples=2))
    assert "reproduce" in failure_block(case, "mypkg")
    unscripted = dataclasses.replace(case, scenario=dataclasses.replace(case.scenario, dataset="iterable"))
    assert "reproduce" not in failure_block(unscripted, "mypkg")


def test_every_block_fits() -> None:
    """With the sentences of the specs as they stand, no clause's block is too long or too wide."""
    for clause in ("COUNT-6", "COUNT-3", "PART-7", "BATCH-4"):
        block = failure_block(dataclasses.replace(LONG, clause=clause), "mypkg").split("\n")
        assert len(block) <= BLOCK_LINES
        assert max(map(len, block)) <= COLUMNS


def test_a_scenario_of_one_line_stays_one() -> None:
    """The words of a case are not replaced by its code unless room is short."""
    assert Scenario(1, 2, 1).describe() in failure_block(DUPLICATE, "mypkg")
