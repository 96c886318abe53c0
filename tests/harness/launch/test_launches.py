"""A launcher is judged by real launches, and its adapter is found by name."""

import json
import os
from pathlib import Path

import pytest

from conformance import check
from conformance.contract import AdapterError, Claims
from conformance.launch import lines as launch_lines
from conformance.launch import probe as launch_probe
from conformance.launch.scenario import from_code
from conformance.trial.tiers import TIERS
from tests.harness.tried import listed
from tests.known_bad.launching import Launcher
from tests.museum.judged import judged, violated


def test_a_correct_launcher_is_green() -> None:
    """Nothing is held against a launcher that does what it claims, and every clause had its chance."""
    report = judged(Launcher, tier="quick")
    assert ({}, []) == (violated(report), [each.clause for each in report.outcomes if each.fails(strict=True)])


def test_a_launcher_must_be_found_by_name() -> None:
    """Instances can't import an object of this process."""
    with pytest.raises(AdapterError, match="which instances of a job can't import; give the name"):
        check(Launcher)


@pytest.mark.parametrize("tier", TIERS)
def test_the_code_of_a_launch_reads_back(tier: str) -> None:
    """Each launch that is tried can be replayed from its code."""
    launches = listed("launch", Claims(launcher="settings"), tier)
    assert launches == [from_code(each.code) for each in launches]


def test_a_launch_is_told_in_words() -> None:
    """Replicas, instances, and what becomes of them."""
    told = from_code("n2,w2,b1,s7,launch,with=fails+second").describe()
    assert "2 replicas, 2 instances, the last instance ends with exit code 7, the second one instead" == told


def test_whole_lines_are_no_fault() -> None:
    """Lines of two instances may come in any order of the instances, and other lines between them."""
    text = {
        stream: "\n".join(
            f"[1,{instance}]<{stream}>:{line.decode('utf-8', 'replace')}"
            for instance in (1, 0)
            for line in launch_probe.lines(instance, stream)
        )
        for stream in ("stdout", "stderr")
    }
    assert [] == launch_lines.faults(
        "a word of the launcher's\n" + text["stdout"], text["stderr"], 2, launch_lines.usual_tag
    )


def test_a_process_that_is_gone_has_no_birth() -> None:
    """A process is known by its id and its start; one that has ended has none."""
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    assert ("", True) == (launch_probe.birth(pid), launch_probe.birth(os.getpid()) != "")


def test_orders_that_ask_nothing_need_no_adapter(tmp_path: Path) -> None:
    """An instance that only has to run writes down its process and its words."""
    orders = tmp_path / "orders.json"
    orders.write_text(json.dumps({"does": [""], "implementation": ""}))
    assert 0 == launch_probe.main(orders, ["a b"])
    assert [{"words": ["a b"]}] == [json.loads(each.read_text()) for each in tmp_path.glob("told-*.json")]


def test_what_fails_is_the_last_or_the_second() -> None:
    """The others have codes of their own: a lower one before it, a higher one after it."""
    assert [2, 1] == [launch_probe.failing({"does": does, "instances": 3}) for does in (["fails"], ["fails", "second"])]
