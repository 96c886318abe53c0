"""How a consumer reads in chapter 11, in a rank's process."""

from collections.abc import Callable, Mapping

from conformance.loader import reading
from conformance.loader.member import Reading
from conformance.reach import scenario


def _whole(going: Reading) -> None:
    reading.read_epochs(going.reader, going.task.epochs, going.epochs)


# Imported, so that a process that only reads knows what these conducts need.
KNOWN = scenario
CONDUCTS: Mapping[str, Callable[[Reading], None]] = {"sharded": _whole, "weighted": _whole}
WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]] = {}
