"""What a consumer does with a loader that reads ahead: it takes its time, restarts, is interrupted, or ends."""

from conformance.loader.conducts import CONDUCTS, Conduct

_MODULE = "conformance.ahead.conduct"
BREAKS = 40


def _first_and_last(count: int) -> tuple[int, ...]:
    return (0, count - 1)


def _two(count: int) -> tuple[int, ...]:
    return (0, 1)


def _last(count: int) -> tuple[int, ...]:
    return (count - 1,)


CONDUCTS.update(
    {
        "look": Conduct(
            "step {} looked at for long",
            _MODULE,
            waits=1,
            details={
                "later": "of the second epoch, not of the first",
                "breaks": f"after {BREAKS} epochs that were left after a step, with the buffer full",
            },
        ),
        "before": Conduct("the first iterator made late", _MODULE, waits=1),
        "between": Conduct(
            "the second epoch asked for late",
            _MODULE,
            waits=1,
            details={"left": "the first one left after a step, with the buffer full"},
        ),
        "later": Conduct("the first iterator made late, for the last epoch", _MODULE, waits=1, epochs=_last),
        "restart": Conduct("iter() after {} steps or at the end", _MODULE, waits=1, epochs=_first_and_last),
        "length": Conduct("len() before, after {} steps and at the end", _MODULE, when_synchronous=True),
        "interrupt": Conduct("interrupted while it waits for step {}", _MODULE, waits=1),
        "outlast": Conduct(
            "left after a step, and the first one of the next epoch held for long",
            _MODULE,
            waits=1,
            epochs=_two,
            calm=True,
        ),
        "quit": Conduct("the process ends without closing", _MODULE, waits=1),
    }
)
