"""The loader in one process at a time: steps, length, ranks, epochs, and what it refuses."""

import warnings
from itertools import product
from typing import Any

import pytest
import torch

import reference as poptorch
from tests.reference.reference_probes import Numbers, Stream, epoch, flat, loader, options

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")
KEPT = pytest.mark.filterwarnings("ignore:The last step of each epoch")


@pytest.mark.parametrize(("samples", "drop"), list(product((0, 1, 6, 7, 12), (True, False))))
@KEPT
def test_one_rank_delivers_what_torch_does(samples: int, drop: bool) -> None:
    """On one rank the loader is torch's at the combined batch size."""
    peer = torch.utils.data.DataLoader(Numbers(samples), batch_size=6, drop_last=drop)
    ours = loader(samples, 3, d=2, drop_last=drop)
    assert epoch(peer) == epoch(ours)
    assert len(peer) == len(ours)


def test_dropping_the_rest_is_the_default() -> None:
    """Unlike torch's, the loader drops an incomplete step unless told otherwise."""
    assert epoch(loader(7, 3)) == [[0, 1, 2], [3, 4, 5]]


def test_a_step_holds_all_factors() -> None:
    """N is the product of all factors, over consecutive samples (BATCH-1, BATCH-3)."""
    made = loader(100, 2, g=2, r=2, d=3)
    assert (made.combinedBatchSize, made.batch_size, made.drop_last) == (24, 24, True)
    assert epoch(made)[0] == list(range(24))


def test_the_chain_of_the_tutorial() -> None:
    """50,000 samples: 1562 steps alone, 390 on each of 4 ranks, 195 with 2 replicas each (COUNT-3)."""
    assert len(loader(50_000, 32)) == 1562
    assert len(loader(50_000, 32, ranks=4, rank=3)) == 390
    made = loader(50_000, 32, ranks=4, rank=3, r=2)
    assert (len(made), made.combinedBatchSize) == (195, 64)


def test_replicas_that_share_inputs_shrink_the_step() -> None:
    """Of 4 replicas in groups of 2, only 2 get inputs of their own."""
    shared = options(r=4).inputReplicaGrouping(2, poptorch.CommGroupType.Consecutive)
    assert poptorch.DataLoader(shared, Numbers(9)).combinedBatchSize == 2


def test_groups_of_inputs_divide_the_replicas() -> None:
    """3 does not divide 4."""
    shared = options(r=4).inputReplicaGrouping(3, poptorch.CommGroupType.Consecutive)
    with pytest.raises(ValueError, match="groups of 3, which do not divide 4 replicas"):
        poptorch.DataLoader(shared, Numbers(9))


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize(("samples", "drop"), list(product((0, 1, 2, 3, 7, 12, 13), (True, False))))
@KEPT
def test_ranks_share_out_the_dataset(samples: int, drop: bool, seed: int | None) -> None:
    """Shards are exclusive, exhaustive if kept, and lose less than a round if not; shuffled too."""
    ranks = [
        flat(epoch(loader(samples, 2, seed=seed, shuffle=seed is not None, rank=k, ranks=3, drop_last=drop)))
        for k in range(3)
    ]
    delivered = sorted(flat(ranks))
    assert len(delivered) == len(set(delivered))
    assert len(delivered) == (samples // 6 * 6 if drop else samples)
    if seed is None:
        assert flat(ranks) == list(range(len(delivered)))


def test_every_sample_gets_its_turn() -> None:
    """What a shuffled epoch leaves over changes, so no sample stays out (PART-8)."""
    made = [loader(7, 2, seed=1, shuffle=True, rank=k, ranks=2) for k in range(2)]
    seen = {sample for _ in range(8) for each in made for sample in flat(epoch(each))}
    assert seen == set(range(7))


def test_a_global_shuffle_mixes_across_ranks() -> None:
    """Over some epochs each sample comes to each rank (ORDER-13)."""
    made = [loader(6, 1, seed=1, shuffle=True, rank=k, ranks=2) for k in range(2)]
    assert all({s for _ in range(12) for s in flat(epoch(each))} == set(range(6)) for each in made)


def test_epochs_count_up_and_can_be_set() -> None:
    """Each iteration is the next epoch; set_epoch names it, and counting goes on (ORDER-5, ORDER-6)."""
    made = loader(20, 5, seed=3, shuffle=True)
    first, second, third = epoch(made), epoch(made), epoch(made)
    assert first != second != third
    again = loader(20, 5, seed=3, shuffle=True)
    again.set_epoch(1)
    assert [epoch(again), epoch(again)] == [second, third]
    again.set_epoch(0)
    assert epoch(again) == first


@pytest.mark.parametrize("value", [-1, True, 1.5, "1", 2**32])
def test_a_bad_epoch_is_refused(value: int) -> None:
    """set_epoch takes a whole number from 0 on."""
    with pytest.raises((TypeError, ValueError), match=r"^epoch is .*, but must be"):
        loader(3).set_epoch(value)


def test_two_iterators_are_independent() -> None:
    """Iterators of one loader that are alive at once are two epochs, each undisturbed."""
    made = loader(12, 3, seed=3, shuffle=True)
    one, two = iter(made), iter(made)
    pairs = [(a.tolist(), b.tolist()) for a, b in zip(one, two, strict=True)]
    again = loader(12, 3, seed=3, shuffle=True)
    assert [list(steps) for steps in zip(*pairs, strict=True)] == [epoch(again), epoch(again)]


def test_unseeded_shuffles_differ_and_follow_torchs_seed() -> None:
    """Without a random seed each loader has its own order, and torch.manual_seed makes it repeat."""

    def shuffled() -> list[int]:
        return flat(epoch(loader(30, 5, shuffle=True)))

    torch.manual_seed(1)
    orders = [shuffled(), shuffled()]
    assert orders[0] != orders[1]
    torch.manual_seed(1)
    assert orders == [shuffled(), shuffled()]


def test_a_generator_gives_the_seed_of_an_unseeded_shuffle() -> None:
    """`generator=`, as torch's loader takes it, makes the order repeat."""
    orders = [epoch(loader(30, 5, shuffle=True, generator=torch.Generator().manual_seed(4))) for _ in range(2)]
    assert orders[0] == orders[1]


def test_a_shuffle_over_ranks_needs_a_seed() -> None:
    """Without randomSeed the ranks would not agree, so it is refused."""
    with pytest.raises(AssertionError, match=r"2 processes needs one order .*options\.randomSeed"):
        loader(9, shuffle=True, ranks=2)


@pytest.mark.parametrize(("samples", "ranks", "last"), [(7, 1, 1), (7, 2, 1), (2, 1, 2)])
def test_a_smaller_last_step_is_announced(samples: int, ranks: int, last: int) -> None:
    """With drop_last=False a warning says how large the last step will be, once, at the caller's line."""
    with pytest.warns(UserWarning, match=f"holds {last} samples instead of 3") as caught:
        poptorch.DataLoader(options(ranks=ranks), Numbers(samples), 3, drop_last=False)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("how", [{"samples": 6}, {"samples": 7, "drop_last": True}, {"samples": 0}])
def test_nothing_is_announced_without_a_smaller_step(how: dict[str, Any]) -> None:
    """Full steps, dropped rests and empty datasets warn of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader(batch_size=3, **{"drop_last": False, **how})


@KEPT
@pytest.mark.parametrize(("samples", "ranks"), [(0, 1), (0, 3), (1, 3), (2, 3)])
def test_tiny_datasets_are_no_error(samples: int, ranks: int) -> None:
    """Empty datasets and more ranks than samples give few steps or none (COUNT-6)."""
    made = [loader(samples, 1, rank=k, ranks=ranks, drop_last=False) for k in range(ranks)]
    assert flat(flat(epoch(each)) for each in made) == list(range(samples))
    assert [len(each) for each in made] == [len(epoch(each)) for each in made]


@KEPT
def test_huge_steps_are_no_error() -> None:
    """A combined batch beyond the machine's integers gives no step, or one (COUNT-6)."""
    assert epoch(loader(3, 10**30)) == []
    assert epoch(loader(3, 10**30, drop_last=False)) == [[0, 1, 2]]


def test_without_batches_samples_come_alone() -> None:
    """batch_size=None delivers samples, shuffled or not, and has no combined size."""
    made = loader(4, None)
    assert (list(made), len(made), made.combinedBatchSize) == ([0, 1, 2, 3], 4, None)
    assert sorted(loader(4, None, seed=1, shuffle=True)) == [0, 1, 2, 3]


def test_without_partitioning_each_process_has_everything() -> None:
    """auto_distributed_partitioning=False leaves the sharing to the user."""
    assert flat(epoch(loader(4, rank=1, ranks=2, auto_distributed_partitioning=False))) == [0, 1, 2, 3]


def test_batches_of_a_batch_sampler_are_combined() -> None:
    """Two device iterations make a step of two batches; drop_last drops an incomplete combination."""
    batches = [[0, 1], [2], [3, 4]]
    assert epoch(loader(5, d=2, batch_sampler=batches)) == [[0, 1, 2]]
    kept = loader(5, d=2, batch_sampler=batches, drop_last=False)
    assert (epoch(kept), len(kept), kept.combinedBatchSize) == ([[0, 1, 2], [3, 4]], 2, None)


def test_a_batch_sampler_without_length_has_no_steps_to_count() -> None:
    """len() is then a TypeError with a sentence; iterating works (COUNT-4)."""

    class Batches:
        def __iter__(self) -> Any:
            return iter([[0], [1]])

    made = loader(2, batch_sampler=Batches())
    assert epoch(made) == [[0], [1]]
    with pytest.raises(TypeError, match=r"has no len\(\), so the steps can't be counted"):
        len(made)


def test_a_users_sampler_keeps_its_order() -> None:
    """`sampler=` goes to torch, at the combined size."""
    assert epoch(loader(5, 2, sampler=[4, 2, 0, 1])) == [[4, 2], [0, 1]]


def test_an_iterable_dataset_on_one_process_is_torchs_affair() -> None:
    """It is cut into combined batches in its own order, and has no length (COUNT-4)."""
    made = poptorch.DataLoader(options(d=2), Stream(7), 1)
    assert epoch(made) == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(TypeError):
        len(made)


def test_repeated_elements_are_announced() -> None:
    """Several workers over an undivided iterable dataset are warned about."""
    with pytest.warns(UserWarning, match="every element comes 2 times"):
        poptorch.DataLoader(options(), Stream(3), num_workers=2)


@pytest.mark.parametrize(
    ("kind", "how", "sentence"),
    [
        (ValueError, {"batch_size": 0}, "batch_size is 0, but must be at least 1"),
        (ValueError, {"batch_size": -2}, "batch_size is -2, but must be at least 1"),
        (TypeError, {"batch_size": True}, "batch_size is True of type bool"),
        (TypeError, {"batch_size": 2.0}, r"batch_size is 2\.0 of type float"),
        (ValueError, {"num_workers": -1}, "num_workers is -1, but must be at least 0"),
        (TypeError, {"drop_last": 1}, "drop_last is 1 of type int"),
        (TypeError, {"shuffle": "yes"}, "shuffle is 'yes' of type str"),
        (TypeError, {"mode": "sync"}, "mode is 'sync' of type str"),
        (ValueError, {"async_options": {}}, "async_options is {}, but has no use in mode Sync"),
        (ValueError, {"rebatched_worker_size": 2}, "rebatched_worker_size is 2, but only AsyncRebatched"),
        (ValueError, {"batch_sampler": [[0]], "shuffle": True}, "batch_sampler decides batches and order"),
        (ValueError, {"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler decides batches and order"),
        (ValueError, {"batch_sampler": [[0]], "ranks": 2}, "A batch_sampler decides itself"),
        (ValueError, {"sampler": [0], "ranks": 2}, "A sampler decides itself"),
        (ValueError, {"batch_size": None, "ranks": 2}, "batch_size is None, but 2 processes"),
    ],
)
def test_what_is_refused_is_a_sentence(kind: type[Exception], how: dict[str, Any], sentence: str) -> None:
    """Bad arguments name value, rule and mend before a sample is read (BATCH-4, BATCH-5)."""
    with pytest.raises(kind, match=sentence):
        loader(4, **{"batch_size": 1, **how})


def test_an_iterable_dataset_over_ranks_is_refused() -> None:
    """Automatic partitioning knows no positions in a stream."""
    with pytest.raises(ValueError, match="An iterable-style dataset decides itself"):
        poptorch.DataLoader(options(ranks=2), Stream(3))


def test_a_dataset_without_length_is_refused() -> None:
    """A map-style dataset must know its length to be shared out."""
    with pytest.raises(TypeError, match=r"no len\(\), so it can't be shared out"):
        poptorch.DataLoader(options(), object())


def test_a_refused_loader_leaves_the_options_open() -> None:
    """Only a loader that was built freezes its options."""
    mine = options()
    with pytest.raises(ValueError, match="batch_size"):
        poptorch.DataLoader(mine, Numbers(3), 0)
    assert mine.deviceIterations(2).device_iterations == 2


def test_the_loader_is_one_of_torchs() -> None:
    """Code that asks for torch's class finds it, and the options are readable."""
    made = loader(3)
    assert isinstance(made, torch.utils.data.DataLoader)
    assert made.options.Distributed.numProcesses == 1


def test_the_tutorials_late_synthetic_data() -> None:
    """The batching tutorial switches synthetic data on after it built its loader."""
    opts = poptorch.Options()
    opts.deviceIterations(50)
    opts.replicationFactor(1)
    data = poptorch.DataLoader(opts, dataset=Numbers(10_000), batch_size=16, shuffle=True, drop_last=True)
    opts.enableSyntheticData(True)
    assert (len(data), len(next(iter(data)))) == (12, 800)
