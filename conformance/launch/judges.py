"""Chapter 7: decides whether a launcher starts what was asked for, tells instances who they are, and ends them all."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from conformance.contract import Claims
from conformance.launch.run import WORDS
from conformance.launch.scenario import LaunchScenario
from conformance.trace import RankRun, Trace
from conformance.trial.clause import Finding, Judge, Verdict, clause

_ENDS = ("fails", "killed", "term", "int")


def launch(clause_id: str, floor: int, applies: Callable[[Claims], bool] | None = None) -> Callable[[Judge], Judge]:
    """Register a judge of chapter 7."""

    def owed(claims: Claims) -> bool:
        return bool(claims.launcher) and (applies is None or applies(claims))

    return clause(clause_id, family="launch", applies=owed, floor=floor, dataset="none")


@launch("LAUNCH-1", floor=5)
def each_instance_runs_once(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    # Where the job is ended early, an instance may be late.
    if not scenario.can_be_met or any(word in scenario.happens for word in _ENDS):
        return None
    run = trace.main.ranks[0]
    if run.failure and run.failure.where == "launch" and run.failure.kind != "hung":
        return [Finding("failed", "the program is started", (run.failure.sentence(),), "the request is valid")]
    started, owed = int(run.remark("started") or 0), scenario.instances
    if started != owed:
        ran = f"{started} processes ran the program"
        return [Finding("number", f"one process for each of {owed} instances", (ran,), "an instance is one process")]
    told = _instances(run)
    if error := next((each["error"] for each in told if "error" in each), ""):
        return [
            Finding("raised", "each instance can ask which it is", (error,), "whoami() and load() are called there")
        ]
    asked = [each["who"] for each in told if "who" in each]
    found = sorted((each.get("instance"), each.get("instances")) for each in asked)
    if asked and found != [(index, owed) for index in range(owed)]:
        lines = tuple(f"one process says it is {index} of {number}" for index, number in found)
        return [Finding("index", f"0 to {owed - 1} of {owed}, each once", lines, "shards and files go by the index")]
    wrong = next((each["words"] for each in told if each["words"] != list(WORDS)), None)
    if wrong is not None:
        return [Finding("words", _quoted(WORDS), (_quoted(wrong),), "arguments arrive as they were given")]
    return []


@launch("LAUNCH-2", floor=4)
def replicas_are_shared_out(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    asked = _who(trace)
    if not scenario.can_be_met or not asked or _misnumbered(scenario, trace):
        return None
    local = scenario.replicas // scenario.instances
    for who in asked:
        index = who["instance"]
        found = (who.get("replicas"), who.get("local_replicas"), who.get("first_replica"))
        if found != (scenario.replicas, local, index * local):
            told = f"instance {index}: {found[1]} of {found[0]} replicas, from {found[2]} on"
            expected = f"instance {index}: {local} of {scenario.replicas} replicas, from {index * local} on"
            return [Finding("replicas", expected, (told,), "each replica has one instance, and an id of its own")]
    return []


@launch("LAUNCH-3", floor=1)
def what_does_not_divide_is_refused(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    if scenario.can_be_met:
        return None
    run = trace.main.ranks[0]
    replicas, instances = scenario.replicas, scenario.instances
    expected = f"an error that names {replicas} and {instances}, and no instance that runs"
    why = f"{replicas} replicas can't be shared out to {instances} instances"
    failure = run.failure
    if failure is not None and failure.kind != "raised":
        return [Finding("failed", expected, (failure.sentence(),), why)]
    if int(run.remark("started") or 0):
        return [Finding("ran", expected, (f"{run.remark('started')} instances ran",), why)]
    if failure is None and run.remark("exit") == "0":
        return [Finding("accepted", expected, ("exit code 0",), why)]
    named = run.remark("named").split() if failure is None else _words(failure.message)
    missing = [str(number) for number in dict.fromkeys((replicas, instances)) if str(number) not in named]
    if missing:
        told = failure.sentence() if failure else f"exit code {run.remark('exit')}"
        return [Finding("unnamed", expected, (f"{told}, and {' and '.join(missing)} not named",), why)]
    return []


@launch("LAUNCH-4", floor=3, applies=lambda claims: "map" in claims.datasets)
def instances_see_their_own_shards(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    told = [each for each in _instances(trace.main.ranks[0]) if "steps" in each]
    if scenario.instances == 1 or len(told) != scenario.instances:
        return None
    told.sort(key=lambda each: (each["who"]["instance"], each["steps"]))
    steps = [len(each["steps"]) for each in told]
    lines = tuple(f"instance {each['who']['instance']}: {_shown(each['steps'])}" for each in told)
    samples = [sample for each in told for step in each["steps"] for sample in step]
    if len(set(samples)) != len(samples) and claims.policy(True) != "pad":
        return [Finding("shared", "no sample is with two instances", lines, "each instance has a shard of its own")]
    if len(set(steps)) > 1 and claims.policy(True) in ("drop", "pad"):
        return [Finding("steps", "the same number of steps on every instance", lines, "they wait for one another")]
    return []


@launch("LAUNCH-5", floor=4)
def the_exit_code_tells(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    run = trace.main.ranks[0]
    hung = run.failure is not None and run.failure.kind == "hung"
    if not scenario.can_be_met or (run.failure and not hung) or scenario.is_stopped or _misnumbered(scenario, trace):
        return None
    if run.failure:
        why = "the launcher ends when its instances have ended"
        return [Finding("hung", "an exit code", (run.failure.sentence(),), why)]
    code = int(run.remark("exit"))
    if "killed" in scenario.happens:
        expected, wrong, why = (
            "an exit code that is not 0",
            code == 0,
            f"an instance was killed by signal {15 if 'mildly' in scenario.happens else 9}",
        )
    elif "fails" in scenario.happens:
        expected, wrong = f"exit code {scenario.exit_code}", code != scenario.exit_code
        why = "the first instance that failed ended with it"
    else:
        expected, wrong, why = "exit code 0", code != 0, "all instances succeed"
    return [Finding("code", expected, (f"exit code {code}",), why)] if wrong else []


@launch("LAUNCH-6", floor=4)
def nothing_goes_on_alone(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    run = trace.main.ranks[0]
    if not scenario.can_be_met or scenario.is_stopped or _misnumbered(scenario, trace):
        return None
    if run.remark("vain"):
        told = f"{run.remark('vain')} of them still ran 30 s later"
        return [Finding("others", "the other instances are ended", (told,), "they wait for the one that has failed")]
    if run.failure:
        return None
    return _left(run, "when an instance fails the others are ended, and their children")


@launch("LAUNCH-7", floor=1)
def a_stopped_launcher_stops_its_instances(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    run = trace.main.ranks[0]
    if not scenario.is_stopped or int(run.remark("started") or 0) != scenario.instances:
        return None
    why = "the signal reaches the launcher only"
    if run.remark("vain") or run.failure:
        told = "the instances run on" if run.remark("vain") else f"{run.failure and run.failure.sentence()}"
        return [Finding("runs-on", "the launcher and its instances end", (told,), why)]
    if run.remark("exit") == "0":
        return [Finding("code", "an exit code that is not 0", ("exit code 0",), "the job did not come to its end")]
    return _left(run, why)


@launch("LAUNCH-8", floor=1)
def each_line_comes_out_once(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    run = trace.main.ranks[0]
    if "lines" not in scenario.happens or run.failure or _misnumbered(scenario, trace):
        return None
    wrong = tuple(text for about, text in run.remarks if about == "lines")
    if wrong:
        why = "each line comes out once, whole, on its own stream, with its instance's tag"
        return [Finding("lines", "the lines that were written", wrong[:4], why)]
    return []


@launch("LAUNCH-9", floor=3, applies=lambda claims: claims.launcher == "settings")
def the_launchers_settings_stay(scenario: LaunchScenario, claims: Claims, trace: Trace) -> Verdict:
    told = [each for each in _instances(trace.main.ranks[0]) if "set" in each]
    if not told or not scenario.can_be_met:
        return None
    why = "the launcher decides it; the script was written for one process"
    if not any(each["set"] for each in told):
        why = 'launcher="settings" is claimed: something is decided by the launcher'
        return [Finding("nothing", "settings() names what a script may not set", ("it names nothing",), why)]
    for each in told:
        for name, message in each["set"].items():
            if name not in message:
                said = message or "no error"
                return [Finding("set", f"an error that names {name}", (f"{name}: {said}",), why)]
        if each.get("who-after", each["who"]) != each["who"]:
            lines = (f"before: {each['who']}", f"after: {each['who-after']}")
            return [Finding("changed", "whoami() says the same afterwards", lines, why)]
    return []


def _left(run: RankRun, why: str) -> Verdict:
    left = [text for about, text in run.remarks if about == "left"]
    if left:
        told = tuple(f"a process was left running: {_LEFT[what]}" for what in left)
        return [Finding("left", "nothing is left when the launcher has ended", told, why)]
    return []


_LEFT = {"instance": "an instance", "child": "a child that an instance had started"}


def _instances(run: RankRun) -> list[dict[str, Any]]:
    """What the instances wrote down."""
    return [json.loads(text) for about, text in run.remarks if about == "instance"]


def _who(trace: Trace) -> list[dict[str, Any]]:
    return [each["who"] for each in _instances(trace.main.ranks[0]) if "who" in each]


def _misnumbered(scenario: LaunchScenario, trace: Trace) -> bool:
    """Whether instances were asked who they are, and do not have each index once (LAUNCH-1)."""
    asked = {str(each.get("instance")) for each in _who(trace)}
    unasked = int(trace.main.ranks[0].remark("started") or 0) == scenario.instances and not _who(trace)
    return not unasked and asked != {str(each) for each in range(scenario.instances)}


def _words(message: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in message).split()


def _quoted(words: Sequence[str]) -> str:
    return " ".join(f"'{word}'" for word in words)


def _shown(steps: list[list[int]]) -> str:
    text = " | ".join(" ".join(map(str, step)) for step in steps[:4])
    return f"{text}{' | ...' if len(steps) > 4 else ''} ({len(steps)} steps)"
