"""Options: values, groups, freezing, environment."""

import copy
import json

import pytest
import torch

import reference as poptorch
from reference import CommGroupType, Options, OutputMode, ReductionType


def frozen() -> Options:
    """Return options that a loader has been built with."""
    options = Options()
    poptorch.DataLoader(options, [1, 2, 3])
    return options


def test_setters_chain() -> None:
    """Every setter returns its own group."""
    options = Options()
    assert options.deviceIterations(4).replicationFactor(2).randomSeed(3) is options
    assert options.Training.gradientAccumulation(8) is options.Training
    assert options.Distributed.configureProcessId(0, 2) is options.Distributed


def test_values_are_readable() -> None:
    """What was set is read under its name."""
    options = Options().deviceIterations(4).replicationFactor(2)
    options.Training.gradientAccumulation(8)
    assert (options.device_iterations, options.replication_factor) == (4, 2)
    assert options.Training.gradient_accumulation == 8


def test_defaults() -> None:
    """A step is one micro-batch, gradients are averaged, and this is the only process."""
    options = Options()
    assert (options.device_iterations, options.replication_factor) == (1, 1)
    assert options.Training.accumulation_and_replication_reduction_type is ReductionType.Mean
    assert (options.Distributed.processId, options.Distributed.numProcesses) == (0, 1)
    assert options.defaultOutputMode()


def test_the_random_seed_exists_only_once_set() -> None:
    """random_seed is no attribute before randomSeed was called."""
    assert not hasattr(Options(), "random_seed")
    assert Options().randomSeed(42).random_seed == 42


def test_the_random_seed_seeds_torch() -> None:
    """randomSeed is also torch.manual_seed."""
    torch.manual_seed(42)
    expected = torch.rand(3).tolist()
    Options().randomSeed(42)
    assert expected == torch.rand(3).tolist()


@pytest.mark.parametrize("seed", [True, 1.5, 2**64, -(2**63) - 1, "1"])
def test_a_bad_seed_is_refused(seed: int) -> None:
    """What torch.manual_seed would not take is refused before torch is touched."""
    with pytest.raises((TypeError, ValueError), match=r"^random seed is .*, but must be"):
        Options().randomSeed(seed)


@pytest.mark.parametrize("setter", ["deviceIterations", "replicationFactor"])
@pytest.mark.parametrize("value", [0, -2, True, 2.0, "2", None])
def test_factors_are_checked(setter: str, value: object) -> None:
    """A factor is an int from 1 on (BATCH-4, BATCH-5)."""
    with pytest.raises((TypeError, ValueError), match=rf"^{setter} is .*, but must be"):
        getattr(Options(), setter)(value)


def test_the_gradient_accumulation_is_checked() -> None:
    """Accumulating zero micro-batches is refused."""
    with pytest.raises(ValueError, match=r"gradientAccumulation is 0, but must be at least 1"):
        Options().Training.gradientAccumulation(0)


def test_another_type_is_an_error_that_names_both() -> None:
    """A value of another type than the default's names the two types."""
    with pytest.raises(TypeError, match="of type str, but must be of type int"):
        Options().set(device_iterations="4")
    with pytest.raises(TypeError, match="of type int, but must be of type OutputMode"):
        Options().set(output_mode=3)


def test_setting_by_name_keeps_the_bounds() -> None:
    """`set` refuses what the setter would refuse."""
    with pytest.raises(ValueError, match=r"Options\.device_iterations is 0, but must be at least 1"):
        Options().set(device_iterations=0)


@pytest.mark.parametrize("name", ["deviceIteration", "device_iteration"])
def test_an_unknown_option_lists_the_valid_ones(name: str) -> None:
    """A misspelt name is answered by the near one and by all."""
    with pytest.raises(AttributeError, match=r"did you mean device.*\? Valid are .*replicationFactor"):
        getattr(Options(), name)
    with pytest.raises(AttributeError, match=r"Valid are .*replication_factor"):
        Options().set(**{name: 2})


def test_an_option_of_the_wrong_group_is_unknown() -> None:
    """gradientAccumulation belongs to Training."""
    with pytest.raises(AttributeError, match=r"Options has no option 'gradientAccumulation'.*Training"):
        Options().gradientAccumulation(2)


def test_assigning_instead_of_calling_is_an_error() -> None:
    """`options.deviceIterations = 4` would be lost silently."""
    with pytest.raises(AttributeError, match=r"can't be assigned \(4\).*calling"):
        Options().deviceIterations = 4  # type: ignore[assignment, method-assign]


@pytest.mark.parametrize("setter", ["deviceIterations", "replicationFactor", "randomSeed", "useIpuId"])
def test_used_options_are_frozen(setter: str) -> None:
    """After a loader was built a setter raises, and says what to do instead."""
    with pytest.raises(AttributeError, match=r"Can't modify frozen Options: .* options\.clone\(\)"):
        getattr(frozen(), setter)(2)


def test_groups_freeze_too() -> None:
    """Training, Distributed and the hardware's groups are frozen with their options."""
    options = frozen()
    for change in (
        lambda: options.Training.gradientAccumulation(2),
        lambda: options.Distributed.configureProcessId(0, 2),
        lambda: options.Precision.enableStochasticRounding(True),
        lambda: options._Popart.set("a", 1),
        lambda: options.set(device_iterations=2),
    ):
        with pytest.raises(AttributeError, match="Can't modify frozen Options"):
            change()


def test_a_frozen_seed_does_not_reseed_torch() -> None:
    """A refused randomSeed leaves torch's generator alone."""
    options = frozen()
    before = torch.get_rng_state().tolist()
    with pytest.raises(AttributeError, match="frozen"):
        options.randomSeed(1)
    assert before == torch.get_rng_state().tolist()


def test_synthetic_data_may_be_switched_on_late() -> None:
    """The tutorial's case: enableSyntheticData after a loader was built."""
    assert frozen().enableSyntheticData(True).synthetic_data is True


def test_a_clone_is_deep_and_not_frozen() -> None:
    """Changing a clone changes nothing of the original."""
    options = frozen()
    twin = options.clone()
    twin.deviceIterations(5).Training.gradientAccumulation(7)
    assert (twin.device_iterations, options.device_iterations) == (5, 1)
    assert options.Training.gradient_accumulation == 1
    assert copy.deepcopy(options).toDict() == options.toDict()


def test_a_dictionary_holds_all_groups() -> None:
    """toDict is plain data with the values of every group."""
    options = Options().deviceIterations(4).outputMode(OutputMode.All).logDir("logs")
    options.Training.gradientAccumulation(8)
    options.Precision.enableStochasticRounding(True)
    found = json.loads(json.dumps(options.toDict()))
    assert (found["device_iterations"], found["gradient_accumulation"], found["output_mode"]) == (4, 8, 2)
    assert (found["logDir"], found["Precision.enableStochasticRounding"]) == ("logs", True)


def test_everyn_needs_a_period() -> None:
    """EveryN without its period is refused; with it both are readable."""
    with pytest.raises(ValueError, match="EveryN without a period"):
        Options().outputMode(OutputMode.EveryN)
    options = Options().outputMode(OutputMode.EveryN, 3)
    assert (options.output_mode, options.output_return_period) == (OutputMode.EveryN, 3)


def test_gradients_must_be_reduced() -> None:
    """NoReduction is no reduction of gradients."""
    with pytest.raises(ValueError, match="give Mean or Sum"):
        Options().Training.accumulationAndReplicationReductionType(ReductionType.NoReduction)


def test_replicas_may_share_inputs() -> None:
    """The group of replicas that share an input is readable."""
    options = Options().inputReplicaGrouping(2, CommGroupType.Consecutive)
    assert (options.input_group_size, options.input_group_type) == (2, CommGroupType.Consecutive)


def test_the_launcher_says_who_this_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """New options read the variables of OpenMPI; disable() forgets them."""
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    options = Options()
    assert (options.Distributed.processId, options.Distributed.numProcesses) == (3, 4)
    options.Distributed.disable()
    assert (options.Distributed.processId, options.Distributed.numProcesses) == (0, 1)


def test_other_launchers_have_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """setEnvVarNames(size, rank) reads the variables that it names."""
    monkeypatch.setenv("SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    distributed = Options().Distributed.setEnvVarNames("SIZE", "RANK")
    assert (distributed.processId, distributed.numProcesses) == (1, 2)


def test_a_launcher_that_talks_nonsense_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is no number is refused by its name."""
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "four")
    with pytest.raises(ValueError, match="OMPI_COMM_WORLD_SIZE is 'four', but must be a whole number"):
        Options()


@pytest.mark.parametrize(("rank", "world_size"), [(2, 2), (-1, 2), (0, 0)])
def test_a_process_is_one_of_those_there_are(rank: int, world_size: int) -> None:
    """0 <= process id < number of processes (BATCH-4)."""
    with pytest.raises(ValueError, match="but must be"):
        Options().Distributed.configureProcessId(rank, world_size)
