"""What came out of a job: decides which lines of which instance are missing, broken or foreign (LAUNCH-8)."""

from collections.abc import Callable, Iterator

from conformance.launch import probe as launch_probe

_SHOWN = 40

Tag = Callable[[int, str], str]


def usual_tag(instance: int, stream: str) -> str:
    """The tag that is expected where an adapter has none of its own."""
    return f"[1,{instance}]<{stream}>:"


def faults(stdout: str, stderr: str, instances: int, tag: Tag) -> list[str]:
    """What is wrong with the lines of a job, one sentence for each instance and stream; empty if nothing is."""
    found = []
    for stream, text in (("stdout", stdout), ("stderr", stderr)):
        lines = text.split("\n")
        for instance in range(instances):
            mark = tag(instance, stream)
            came = [_shown_alike(line.removeprefix(mark)) for line in lines if line.startswith(mark)]
            owed = [line.decode("utf-8", "replace") for line in launch_probe.lines(instance, stream)]
            found += list(_difference(came, owed, f"{mark!r} on {stream}"))
    return found


def _shown_alike(line: str) -> str:
    """The line, in which a byte that is no UTF-8 is shown as we show it: a launcher may write it out."""
    return line.replace("\\xff", "\ufffd").replace("<ff>", "\ufffd")


def _difference(came: list[str], owed: list[str], where: str) -> Iterator[str]:
    """The first place where what came is not what was written."""
    for number, (one, other) in enumerate(zip(came, owed, strict=False)):
        if one != other:
            yield f"line {number} with {where} is {_short(one)}, but {_short(other)} was written"
            return
    if len(came) != len(owed):
        yield f"{len(came)} lines with {where}, but {len(owed)} were written"


def _short(line: str) -> str:
    return repr(line) if len(line) <= _SHOWN else f"{line[:_SHOWN]!r}... ({len(line)} characters)"
