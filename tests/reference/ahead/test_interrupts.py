"""An asynchronous loader that is interrupted, at any instruction, leaves nothing and can be iterated again."""

from tests.reference.ahead.interrupting import outlives

WORKERS = 2
RECEIVED = "torch/multiprocessing/reductions.py"  # where the first message of a worker is read
ENTERED = 24  # checks from an interrupt on, in which the ring gets hold of those that follow


def test_an_interrupt_may_come_at_any_check() -> None:
    """At one check in eighty of a loader's life, here; `python -m tests.benchmarks.interrupts` tries all."""
    total = outlives(()).count
    hit = [place for at in range(1, total, 80) for place in outlives((at,)).hit]
    assert len(set(hit)) > 10


def test_a_second_interrupt_may_come_while_the_first_is_dealt_with() -> None:
    """Right after it, before the producers are being ended, it leaves them to whoever asks next."""
    hit = [len(outlives((1, 1 + later), WORKERS, since=RECEIVED).hit) for later in range(1, ENTERED)]
    assert hit == [2] * len(hit)
