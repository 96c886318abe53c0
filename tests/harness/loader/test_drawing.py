"""A consumer that draws while it reads: what a loader takes back of that is seen."""

from conformance.loader.drawing import Drawing
from conformance.processes import random_state

SEED = 5


def undone(takes_back: bool) -> list[tuple[str, str]]:
    """What is remarked of a loader that puts the generators back behind a held step, or does not."""
    with random_state.undisturbed():
        random_state.seed_all(SEED)
        drawing = Drawing()
        drawing.hold()
        if takes_back:
            random_state.seed_all(SEED)
        after = random_state.last_digests()
        states = drawing.states(SEED)
        return drawing.undone(states, states[0], after)


def test_draws_that_are_left_alone_are_none_to_remark() -> None:
    """The generators are where the consumer's own draws have brought them."""
    assert [] == undone(takes_back=False)


def test_draws_that_are_taken_back_are_remarked_for_each_library() -> None:
    """The generator is where the consumer had found it."""
    assert ("undone", "random") in undone(takes_back=True)
