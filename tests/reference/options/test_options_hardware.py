"""Setters that concern only the hardware: accepted, recorded, without effect."""

import pytest
import torch

import reference as poptorch
from reference import Options
from reference.options.hardware import HARDWARE_SETTERS, REQUIRED

EXAMPLES = {
    str: "text",
    bool: True,
    int: 1,
    dict: {"IPU0": 0.5},
    list: ["text"],
    object: torch.half,
    poptorch.TensorLocationSettings: poptorch.TensorLocationSettings(),
}


def example(kind: object) -> object:
    """Return a value that a parameter of that kind takes."""
    kind = kind[0] if isinstance(kind, tuple) else kind
    if kind.__name__ == "ExecutionStrategy":
        return poptorch.PipelinedExecution("A", poptorch.Stage("B", "C").ipu(1))
    return EXAMPLES[kind] if kind in EXAMPLES else next(iter(kind))


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, setters in HARDWARE_SETTERS.items() for name in setters]
)
def test_every_hardware_setter_is_recorded_and_chains(group: str, name: str) -> None:
    """A setter of the table takes its arguments, returns its group, and changes no value."""
    options = Options()
    before = options.toDict()
    target = getattr(options, group) if group else options
    arguments = [example(kind) for _, kind, default in HARDWARE_SETTERS[group][name].parameters if default is REQUIRED]
    assert getattr(target, name)(*arguments) is target
    after = options.toDict()
    assert set(after) - set(before) == {f"{group}.{name}" if group else name}
    assert before == {key: after[key] for key in before}


def test_a_device_script_sets_its_options_unchanged() -> None:
    """A block of calls as in the public applications runs."""
    opts = poptorch.Options()
    opts.setExecutionStrategy(poptorch.ShardedExecution(poptorch.AutoStage.AutoIncrement))
    opts.setAvailableMemoryProportion({"IPU0": 0.1, "IPU1": 0.2})
    opts.enableExecutableCaching("./cache").enableProfiling().modelName("net").showCompilationProgressBar(False)
    opts.TensorLocations.setOptimizerLocation(
        poptorch.TensorLocationSettings().useOnChipStorage(False).useReplicatedTensorSharding(True)
    )
    opts.Training.setMeanAccumulationAndReplicationReductionStrategy(poptorch.MeanReductionStrategy.Running)
    opts.Precision.setPartialsType(torch.half).enableStochasticRounding(True)
    opts._Popart.set("disableGradAccumulationTensorStreams", True).setPatterns({"TiedGather": True}, 2)
    opts.connectionType(poptorch.ConnectionType.OnDemand).useIpuModel(False)
    opts.appendToLocationExcludes("a", "b").anchorTensor("grad", "Gradient___w", poptorch.OutputMode.All)
    assert opts.toDict()["modelName"] == "net"


def test_phases_are_recorded() -> None:
    """A phased strategy hands out its phases, which take chips."""
    strategy = poptorch.ParallelPhasedExecution(poptorch.Phase(poptorch.Stage("0"), poptorch.Stage("1")), ["2", "3"])
    strategy.phase(0).ipus(0, 2)
    strategy.useSeparateBackwardPhase(True).sendTensorsOffChipAfterFwd()
    assert Options().setExecutionStrategy(strategy).toDict()["setExecutionStrategy"]["useSeparateBackwardPhase"]


def test_a_stage_is_found_by_its_block() -> None:
    """In a pipeline and in phases; what is set on it is set on the strategy's own."""
    pipeline = poptorch.PipelinedExecution(poptorch.Stage("a", "b"), "c", ["d", "e"])
    assert ("d", "e") == pipeline.stage("e").ipu(3).blocks
    assert 3 == pipeline.stage("d").toDict()["ipu"]
    assert [] == poptorch.ShardedExecution(poptorch.AutoStage.SameAsIpu)._stages
    phases = poptorch.SerialPhasedExecution(poptorch.Phase("a", "b"), [poptorch.Stage("c"), poptorch.Stage("d")])
    phases.stage("b").ipu(1)
    assert 1 == len(phases.phase(0).stages)
    assert phases.stage("d") is phases.phase(1).stage(1)
    with pytest.raises(ValueError, match="'x' is no block of this SerialPhasedExecution"):
        phases.stage("x")


@pytest.mark.parametrize(
    "call",
    [
        lambda options: options.logDir(3),
        lambda options: options.logDir(),
        lambda options: options.logDir("a", "b"),
        lambda options: options.logDir(directory="a"),
        lambda options: options.autoRoundNumIPUs(1),
        lambda options: options.useIpuId(True),
        lambda options: options.connectionType("Never"),
        lambda options: options.setExecutionStrategy("pipelined"),
        lambda options: options.appendToLocationExcludes("a", 1),
        lambda options: options.TensorLocations.setWeightLocation({"onChip": True}),
    ],
)
def test_certain_mistakes_are_refused(call: object) -> None:
    """Wrong types and wrong numbers of arguments are errors also where nothing would follow."""
    with pytest.raises(TypeError, match=r"Options\."):
        call(Options())  # type: ignore[operator]
