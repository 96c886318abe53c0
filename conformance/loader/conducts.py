"""The words of a scenario: what goes wrong, what a consumer does, and of which kind the samples are.

What a consumer can do in a chapter of its own, that chapter adds to CONDUCTS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# What goes wrong, once, and where ("raise@3": sample 3 raises); and how it reads in a report.
FAULTS = {
    "raise": "sample {} raises",
    "stop": "sample {} raises StopIteration",
    "index": "sample {} raises IndexError",
    "again": "sample {} raises when it is read again",
    "kill": "the worker that reads sample {} is killed",
    "exit": "the worker that reads sample {} exits",
    "hang": "the worker that reads sample {} hangs",
    "idle": "the worker that read sample {} is killed between two epochs",
    "slow": "sample {} takes half a second",
    "long": "sample {} takes six seconds",
    "crawl": "each sample takes half a second, and no step as long as the time-out",
    "collate": "collating sample {} raises",
    "init": "the initialiser of worker {} raises",
}
# More that may be said of a fault, as words of the details: what is raised in place of the dataset's own exception, by
# the name of its class, and in which epoch it happens, if not in the first.
ERRORS = {
    "disk": "OSError",
    "key": "KeyError",
    "unicode": "UnicodeDecodeError",
    "memory": "MemoryError",
    "late": "TimeoutError",
    "eof": "EOFError",
    "pipe": "BrokenPipeError",
    "attribute": "AttributeError",
    "type": "TypeError",
    "runtime": "RuntimeError",
    "missing": "NotImplementedError",
    "stubborn": "Stubborn",
    # What queues, pools and connections raise for themselves, and a loader that is made of them may take for its own.
    "empty": "Empty",
    "full": "Full",
    "cancelled": "CancelledError",
    "pool": "BrokenExecutor",
    "reset": "ConnectionResetError",
    "blocking": "BlockingIOError",
    "process": "ProcessError",
    "barrier": "BrokenBarrierError",
    "unpickling": "UnpicklingError",
    "assertion": "AssertionError",
    "module": "ModuleNotFoundError",
    # Whoever catches a class catches those that derive from it, and may raise one of the class itself in its place.
    "nofile": "FileNotFoundError",
    "permission": "PermissionError",
    "interrupted": "InterruptedError",
    "child": "ChildProcessError",
    "directory": "IsADirectoryError",
    "refused": "ConnectionRefusedError",
    "aborted": "ConnectionAbortedError",
    "lookup": "LookupError",
    "arithmetic": "ArithmeticError",
    "division": "ZeroDivisionError",
    "overflow": "OverflowError",
    "recursion": "RecursionError",
    "name": "NameError",
    "import": "ImportError",
    "reference": "ReferenceError",
    "buffered": "BufferError",
    "system": "SystemError",
    "syntax": "SyntaxError",
    "warning": "UserWarning",
    "quota": "OverQuota",
    "ragged": "Ragged",
}
# Those of which a few are enough.
A_FEW_ERRORS = ("unicode", "eof", "type", "stubborn")
# What Python derives from BaseException alone, so that `except Exception` lets it pass; and the dataset's own such.
BASE_ERRORS = {
    "exits": "SystemExit",
    "abandons": "Abandoned",
    "closes": "GeneratorExit",
    "stops": "KeyboardInterrupt",
    "cancels": "CancelledError",
}
# What Python's own loops take for the end, where a collate function raises it.
ENDINGS = {"iteration": "StopIteration", "bounds": "IndexError"}
RAISED = {**ERRORS, **BASE_ERRORS, **ENDINGS}
# Of these no other process can make one again from its text.
NOT_MADE_ANEW = ("unicode", "stubborn")
IN_EPOCH = {"second": 1, "third": 2}
# Where those are that are not built in.
MODULES = {
    "cancels": "asyncio",
    "empty": "queue",
    "full": "queue",
    "cancelled": "concurrent.futures",
    "pool": "concurrent.futures",
    "process": "multiprocessing",
    "barrier": "threading",
    "unpickling": "pickle",
}


def _told(word: str, name: str) -> str:
    whole = f"{MODULES[word]}.{name}" if word in MODULES else name
    return f"with {'an' if whole[0] in 'AEIOUa' else 'a'} {whole}"


FAULT_WORDS = {
    **{word: _told(word, name) for word, name in RAISED.items()},
    "second": "in the second epoch",
    "third": "in the third epoch",
    "always": "in every epoch",
    "strict": "with a collate function that takes no empty list",
}
# The faults after which a worker has had no time to clean up, and which a loader may take seconds to notice.
DEADLY = ("kill", "exit", "hang", "idle")
# Nothing is wrong with these samples: they take their time.
SLOW = ("slow", "long", "crawl")
# Where a time-out is asked for, in seconds: less than a worker hangs, and more than a step takes where all take longer.
TIMEOUTS = {"hang": 1.0, "crawl": 3.0, "dawdle": 3.0}
DAWDLES = 4.0  # seconds for which a consumer holds a step
# What a sample is, if not a number.
KINDS = (
    *("buffer", "large", "tensors", "arrays", "text", "none", "dict", "tuple", "named", "nested", "empty", "absent"),
    "optional",
)
# Samples that are other ones in each epoch: what is written over what is held then shows.
AGING_KINDS = ("aging",)
# The samples of another dataset, of the same class and size.
FOREIGN = "foreign"
# Samples one of which, in the middle of the epoch, is unlike those before it.
ODD_KINDS = ("dtype", "narrow", "wide", "longer", "finer", "counted", "turned")
# Samples of 1 MiB, which are not looked at: what is done with steps that are large. Text fits into no tensor.
BIG_KINDS = ("big", "long")


@dataclass(frozen=True)
class Conduct:
    """What a consumer does other than reading epoch after epoch and closing the loader: how it reads in a report.

    `module` is the one that knows how it is done, in a rank's process; the loader's own conducts need none. `waits`: 1
    where the consumer waits for what a loader does meanwhile, 2 where it waits long. `epochs` gives, for a number of
    epochs, those that are read. `asks` gives, for a scenario, more fields of the request.
    `when_synchronous`: it is done as well where a run is compared with one that does not read ahead. `details`: the
    words that say more, and how they read. `fails_in`: the word whose epoch a fault happens in, where each word is an
    epoch. `calm`: nothing is looked for that may be left behind. `watched`: each read is.
    """

    text: str
    module: str = ""
    waits: int = 0
    epochs: Callable[[int], tuple[int, ...]] = lambda count: tuple(range(count))
    asks: Callable[[Any], Mapping[str, Any]] = lambda scenario: {}
    when_synchronous: bool = False
    details: Mapping[str, str] = field(default_factory=dict)
    fails_in: str = ""
    calm: bool = False
    watched: bool = False


def _far(count: int) -> tuple[int, ...]:
    """Epochs that differ in one high bit, or lie on both sides of one."""
    return (0, 255, 256, 257, 65_535, 65_536, 65_537, 2**24, 2**30, 2**31 - 9)[:count]


def _backwards(count: int) -> tuple[int, ...]:
    return tuple(range(count))[::-1]


CONDUCTS: dict[str, Conduct] = {
    "leave": Conduct("left after step {} of the first epoch"),
    "two": Conduct("a second iterator begun after step {} of the first"),
    "kept": Conduct("every batch kept"),
    "hold": Conduct("left after step {} of the first epoch, every batch kept and looked at after close()"),
    "ended": Conduct("next() called again after the end, the loader closed twice"),
    "dropped": Conduct("dropped without closing"),
    "unread": Conduct("made and never iterated"),
    "refused": Conduct("made after requests that must be refused, and never iterated"),
    "forgotten": Conduct("made, never iterated and dropped without closing"),
    "far": Conduct("epochs far apart", epochs=_far, calm=True),
    "back": Conduct("the last epoch first", epochs=_backwards, calm=True),
    "head": Conduct("the first step of each epoch alone", calm=True),
    "dawdle": Conduct("the first step held for longer than the time-out", waits=1, calm=True),
    "untold": Conduct("set_epoch never called", when_synchronous=True, calm=True),
    "closed": Conduct("closed after step {} while its iterator is alive"),
}
NO_CONDUCT = Conduct("")
