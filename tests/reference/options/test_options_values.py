"""Options as PopTorch's users copy, assign and read them."""

import copy
import pickle
from typing import Any

import pytest

import reference as poptorch
from reference import DataLoader, HalfFloatCastingBehavior, MeanReductionStrategy, Options, OutputMode


def frozen() -> Options:
    """Options that a loader was built with."""
    return DataLoader(Options(), [1, 2, 3]).options


def test_a_deep_copy_is_not_frozen() -> None:
    """It is the usual way from training options to those of a validation; the original stays closed."""
    options = frozen()
    twin = copy.deepcopy(options)
    twin.deviceIterations(5).Training.gradientAccumulation(7)
    twin.Precision.enableStochasticRounding(True)
    twin._Popart.set("a", 1)
    twin.Distributed.configureProcessId(1, 2)
    assert (5, 1, 7, 1) == (
        twin.device_iterations,
        options.device_iterations,
        twin.Training.gradient_accumulation,
        options.Training.gradient_accumulation,
    )
    with pytest.raises(AttributeError, match="frozen"):
        options.deviceIterations(2)


def test_the_options_of_a_copied_loader_are_frozen() -> None:
    """A loader's options are in use in its copy, too."""
    twin = copy.deepcopy(DataLoader(Options(), list(range(4))))
    with pytest.raises(AttributeError, match="frozen"):
        twin.options.deviceIterations(2)


def test_options_travel_to_another_process() -> None:
    """With all that was set, and frozen if they are."""
    options = frozen().clone().logDir("logs")
    options.TensorLocations.setWeightLocation(poptorch.TensorLocationSettings().useOnChipStorage(True))
    sent = pickle.loads(pickle.dumps(options))
    assert ("logs", options.toDict()) == (sent.log_dir, sent.toDict())
    assert sent.TensorLocations.location_weight["useOnChipStorage"] is True
    with pytest.raises(AttributeError, match="frozen"):
        pickle.loads(pickle.dumps(frozen())).deviceIterations(2)


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("", "replication_factor", 4),
        ("", "device_iterations", 3),
        ("", "output_mode", OutputMode.All),
        ("", "log_dir", "logs"),
        ("", "auto_round_num_ipus", True),
        ("", "ipu_id", 2),
        ("Training", "gradient_accumulation", 8),
        ("Training", "meanAccumulationAndReplicationReductionStrategy", MeanReductionStrategy.PostAndLoss),
        ("Distributed", "num_distributed_processes", 2),
        ("Jit", "trace_model", False),
        ("Precision", "half_float_casting", HalfFloatCastingBehavior.HalfUpcastToFloat),
    ],
)
def test_a_value_can_be_assigned_and_read(group: str, name: str, value: object) -> None:
    """Under the name that it is read by; not after its first use."""
    options = Options()
    target = getattr(options, group) if group else options
    setattr(target, name, value)
    assert value == getattr(target, name)
    options._freeze()
    with pytest.raises(AttributeError, match="frozen"):
        setattr(target, name, value)


def test_an_assigned_value_is_checked() -> None:
    """As by its setter."""
    with pytest.raises(ValueError, match=r"replication_factor is 0, but must be at least 1"):
        Options().replication_factor = 0
    with pytest.raises(TypeError, match=r"log_dir, is 3 of type int"):
        Options().log_dir = 3
    with pytest.raises(TypeError, match=r"1\.5 of type float"):
        Options().randomSeed(1).random_seed = 1.5


def test_an_assigned_rank_is_checked_when_it_is_used() -> None:
    """Rank and world size are assigned one after the other, in any order (BATCH-4)."""
    options = Options()
    options.Distributed.distributed_process_id = 1
    with pytest.raises(ValueError, match="rank is 1, but must be less than the world size 1"):
        DataLoader(options, list(range(4)))
    options.Distributed.num_distributed_processes = 2
    assert [2, 3] == [int(each) for each in DataLoader(options, list(range(4)))]


def test_a_name_that_is_none_can_not_be_assigned() -> None:
    """A slip would be lost in silence."""
    with pytest.raises(AttributeError, match=r"no option 'replicas'"):
        Options().replicas = 3


def test_hardware_values_are_read_with_their_defaults() -> None:
    """PopTorch's names and defaults; some exist only once they were set."""
    options = Options()
    assert (".", {}, False, True) == (
        options.log_dir,
        options.anchored_tensors,
        options.auto_round_num_ipus,
        options.broadcast_buffers,
    )
    assert HalfFloatCastingBehavior.Default is options.Precision.half_float_casting
    assert (False, False, True) == (options.exists("random_seed"), options.exists("ipu_id"), options.exists("log_dir"))
    with pytest.raises(AttributeError, match="no option 'model_name'"):
        _ = options.model_name
    options.modelName("net").setAvailableMemoryProportion({"IPU1": 0.5})
    assert ("net", {1: 0.5}) == (options.model_name, options.available_memory_proportion)


def test_every_anchored_tensor_is_remembered() -> None:
    """Each call adds one."""
    options = Options()
    options.anchorTensor("a", "Gradient___a").anchorTensor("b", "Gradient___b", OutputMode.EveryN, 3)
    expected = {"a": ["Gradient___a", True, None, 1], "b": ["Gradient___b", False, OutputMode.EveryN, 3]}
    assert expected == options.anchored_tensors


def test_frozen_options_can_be_asked_for() -> None:
    """checkIsFrozen raises once they are."""
    Options().checkIsFrozen()
    for part in (frozen(), frozen().Training, frozen()._Popart):
        with pytest.raises(AttributeError, match="Can't modify frozen Options"):
            part.checkIsFrozen()
    with pytest.raises(AttributeError, match="what is set now comes after a DataLoader or a model was built"):
        frozen().checkIsFrozen()


def test_the_package_holds_poptorchs_names() -> None:
    """poptorch.options has what its documentation names."""
    for name in ("Options", "ConfigFileError", "TensorLocationSettings", "PipelinedExecution", "Stage", "Attribute"):
        assert getattr(poptorch.options, name) is getattr(poptorch, name)
    with poptorch.Attribute(serialize={"factor": 4}):
        pass


@pytest.mark.parametrize(
    ("member", "value"),
    [
        (MeanReductionStrategy.PostAndLoss, 2),
        (HalfFloatCastingBehavior.Default, 2),
        (poptorch.Liveness.OffChipAfterFwdNoOverlap, 2),
        (poptorch.Liveness.OffChipAfterEachPhase, 3),
        (poptorch.VariableRetrievalMode.AllReplicas, 2),
        (poptorch.OverlapMode.NoOverlap, "no_overlap"),
    ],
)
def test_members_have_poptorchs_values(member: Any, value: object) -> None:
    """Stored numbers keep their meaning."""
    assert value == member.value
