"""Which method makes the order of an epoch, and how it is asked for its steps."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import DataLoader, Options, ShuffleMethod, epoch_order
from reference.rules import orders
from reference.rules.orders import FeistelOrder, in_steps
from reference.rules.sampler import EpochSampler

METHODS = tuple(ShuffleMethod)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [0, 1, 2, 97])
def test_an_order_and_its_inverse_agree(method: ShuffleMethod, n: int) -> None:
    """Both methods answer position by position, many at a time, and the other way round."""
    order = epoch_order(n, 7, 2, method)
    samples = [order.sample_at(position) for position in range(n)]
    assert samples == order.samples_at(range(n)).tolist()
    assert list(range(n)) == sorted(samples) == [samples[order.position_of(s)] for s in range(n)]
    assert n == order.samples


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("outside", [-1, 5, 1.0])
def test_what_is_outside_the_epoch_is_refused(method: ShuffleMethod, outside: Any) -> None:
    """Neither method counts from the end, or answers for a sample that is not there."""
    order = epoch_order(5, 0, 0, method)
    for ask in (order.sample_at, order.position_of):
        with pytest.raises((TypeError, ValueError), match="but must be"):
            ask(outside)


def test_the_method_is_a_member_of_the_enum() -> None:
    """A number is refused; the default is the list."""
    with pytest.raises(TypeError, match="must be of type ShuffleMethod"):
        epoch_order(5, 0, 0, 1)  # type: ignore[arg-type]
    assert ShuffleMethod.Sort is Options().shuffle_method
    with pytest.raises(TypeError, match="must be of type ShuffleMethod"):
        Options().shuffleMethod(1)  # type: ignore[arg-type]


def test_json_can_name_the_method() -> None:
    """Options that come as text choose it like any other value."""
    assert ShuffleMethod.Feistel is Options().from_json('{"shuffleMethod": "ShuffleMethod.Feistel"}').shuffle_method


@given(
    st.integers(0, 60),
    st.integers(1, 7),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(METHODS),
    st.integers(0, 3),
)
def test_a_ranks_own_positions_are_those_of_the_whole_order(
    n: int, size: int, ranks: int, drop_last: bool, method: ShuffleMethod, first: int
) -> None:
    """The shards, asked for one by one and from any step on, are slices of the one order (ORDER-4)."""
    whole = epoch_order(n, 3, 1, method).samples_at(range(n)).tolist()
    for rank in range(ranks):
        steps = EpochSampler(n, size, ranks, rank, drop_last, 3, method)
        steps.epoch, steps.first = 1, first
        mine = whole[steps.shard.start : steps.shard.stop][first * size :]
        assert [mine[at : at + size] for at in range(0, len(mine), size)] == list(steps)


def test_a_rank_asks_for_its_own_positions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 10**15 samples the last of 10**6 ranks asks for its first thousand, then for twice as many, and so on."""
    asked = []
    answer = FeistelOrder.samples_at

    def noted(self: FeistelOrder, positions: range) -> Any:
        asked.append(positions)
        return answer(self, positions)

    monkeypatch.setattr(orders.FeistelOrder, "samples_at", noted)
    steps = EpochSampler(10**15, 512, 10**6, 10**6 - 1, True, 0, ShuffleMethod.Feistel)
    steps.first = 10
    made = iter(steps)
    for _ in range(7):
        next(made)
    begin = steps.shard.start + 10 * 512
    assert [range(begin, begin + 1024), range(begin + 1024, begin + 3072), range(begin + 3072, begin + 7168)] == asked


@pytest.mark.parametrize("size", [1, 3, 1_000, 70_000, 200_000])
def test_steps_are_whole_whatever_is_asked_for_at_once(size: int) -> None:
    """A step may be smaller or larger than what is asked for ahead."""
    order = epoch_order(150_001, 0, 0, ShuffleMethod.Feistel)
    steps = list(in_steps(order, range(150_001), size))
    assert order.samples_at(range(150_001)).tolist() == [sample for step in steps for sample in step]
    assert {size} >= {len(step) for step in steps[:-1]}


class Numbers:
    """A dataset of any length, of which nothing is held."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        return index


def loader(n: int, rank: int = 0, ranks: int = 1, method: ShuffleMethod = ShuffleMethod.Feistel) -> DataLoader:
    """Return one rank's loader of whole numbers."""
    options = Options().randomSeed(5).shuffleMethod(method)
    options.Distributed.configureProcessId(rank, ranks)
    return DataLoader(options, Numbers(n), batch_size=3, shuffle=True)


def test_the_options_choose_what_the_loader_delivers() -> None:
    """Two ranks of a loader with the method deliver their parts of its order, and drop what is left over."""
    order = epoch_order(20, 5, 0, ShuffleMethod.Feistel).samples_at(range(18)).tolist()
    parts = [[sample for step in loader(20, rank, 2) for sample in step.tolist()] for rank in range(2)]
    assert [order[:9], order[9:]] == parts


def test_a_restart_goes_on_in_an_epoch_of_any_size() -> None:
    """From a state in the midst of 2**53 + 1 samples, the next step is the one that would have come."""
    first = loader(2**53 + 1, 3, 4)
    steps = iter(first)
    taken = [next(steps).tolist() for _ in range(4)]
    state = copy.deepcopy(first.state_dict())
    second = loader(2**53 + 1, 3, 4)
    second.load_state_dict({**state, "steps": 2})
    again = iter(second)
    assert taken[2:] == [next(again).tolist() for _ in range(2)]


def test_a_state_of_the_other_method_is_refused() -> None:
    """Its steps are others (RESUME-11); a state from before there was a choice is one of the list."""
    state = loader(20).state_dict()
    with pytest.raises(ValueError, match="shuffle method 'Feistel', and this one has 'Sort'"):
        loader(20, method=ShuffleMethod.Sort).load_state_dict(state)
    old = loader(20, method=ShuffleMethod.Sort).state_dict()
    del old["counted_in"]["shuffle method"]
    loader(20, method=ShuffleMethod.Sort).load_state_dict(old)
    with pytest.raises(ValueError, match="shuffle method 'Sort', and this one has 'Feistel'"):
        loader(20).load_state_dict(old)


def test_an_order_travels_to_other_processes() -> None:
    """It is plain data, of a few hundred bytes."""
    order = epoch_order(2**63 - 1, 1, 1, ShuffleMethod.Feistel)
    assert order == pickle.loads(pickle.dumps(order))
