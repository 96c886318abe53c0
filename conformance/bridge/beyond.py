"""What can't be judged of a loader behind the bridge, and why: such a clause is NOT CLAIMED, whatever is claimed.

A clause that could not fail has shown nothing. So what a loader in another process can't do wrong (draw from Python's
generators, collate Python's samples) stands here beside what can't be seen of it.
"""

from collections.abc import Mapping

_READS = "every sample is read in the rank's own process, whichever worker asked for it"
_WORKERS = "a worker reads nothing itself, so that no sample can kill it or let it hang"
_STEPS = "a step comes as the numbers of its samples, and nothing is collated or copied"
_STATE = "a loader in another process can't reach Python's random generators"
_ASKED = "samples can be read only while the loader is asked for something, so that nothing is read ahead"
_HOOKS = "a function of Python's can't be handed over"
_CHOSEN = "the bridge does not ask for what chapter 11 adds to a request"
_LOADERS = "the bridge carries loaders, and nothing else"

BEYOND: Mapping[str, str] = {
    **dict.fromkeys(("ORDER-9", "ORDER-10", "ORDER-11"), _STATE),
    **dict.fromkeys(("WORK-2", *(f"WORK-{number}" for number in range(7, 12))), _READS),
    **dict.fromkeys(("WORK-16", "WORK-17"), _STEPS),
    **dict.fromkeys((f"ASYNC-{number}" for number in range(1, 12)), _ASKED),
    **dict.fromkeys((f"DEVICE-{number}" for number in range(1, 15)), _LOADERS),
    **dict.fromkeys((f"LAUNCH-{number}" for number in range(1, 10)), _LOADERS),
    **dict.fromkeys((f"LOOP-{number}" for number in range(1, 8)), _LOADERS),
    **dict.fromkeys((f"PIPE-{number}" for number in range(1, 21)), _LOADERS),
    **dict.fromkeys((f"GROUP-{number}" for number in range(1, 13)), _CHOSEN),
    **dict.fromkeys((f"STREAM-{number}" for number in range(1, 7)), _CHOSEN),
    **dict.fromkeys((f"SUBSET-{number}" for number in range(1, 7)), _CHOSEN),
    **dict.fromkeys((f"MIX-{number}" for number in range(1, 10)), _CHOSEN),
    "LEFT-1": _CHOSEN,
    **dict.fromkeys(("ERROR-4", "ERROR-7"), _WORKERS),
    **dict.fromkeys(("ERROR-5", "ERROR-6", "WORK-18", "WORK-19", "WORK-20"), _HOOKS),
}
