"""How a consumer reads in chapter 11, in a rank's process."""

from collections.abc import Callable, Mapping

from conformance.loader import reading
from conformance.loader.member import Reading


def _whole(going: Reading) -> None:
    reading.read_epochs(going.reader, going.task.epochs, going.epochs)


CONDUCTS: Mapping[str, Callable[[Reading], None]] = {"sharded": _whole}
WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]] = {}
