"""What the chapters say of PopTorch's and PopDist's names, served or not, is the truth."""

import re

import pytest

import reference
from reference import popdist
from tests.docs.programs import ROOT
from tests.reference.device.device_probes import Regression

CHAPTER = (ROOT / "specs" / "6-device.md").read_text(encoding="utf-8")
TABLE = CHAPTER.partition("**Names that are not served.**")[2].partition("## ")[0]
NAMES = [name for row in re.findall(r"^\| (`.*?) \|", TABLE, re.M) for name in re.findall(r"`([\w.]+)`", row)]
# What PopTorch's reference documents, without its options and its optimizers.
DOCUMENTED = [
    "AsynchronousDataAccessor",
    "AutoStage",
    "BeginBlock",
    "Block",
    "BlockFunction",
    "CPU",
    "CommGroupType",
    "ConnectionType",
    "DataLoader",
    "DataLoaderMode",
    "HalfFloatCastingBehavior",
    "Liveness",
    "MatMulSerializationMode",
    "MeanReductionStrategy",
    "MultiConv",
    "MultiConvPlanType",
    "NameScope",
    "Options",
    "OutputMode",
    "OverlapMode",
    "ParallelPhasedExecution",
    "Phase",
    "PipelinedExecution",
    "PoplarExecutor",
    "ReductionType",
    "SerialPhasedExecution",
    "ShardedExecution",
    "SharingStrategy",
    "Stage",
    "SyncPattern",
    "TensorLocationSettings",
    "VariableRetrievalMode",
    "autocasting",
    "ctc_beam_search_decoder",
    "custom_op",
    "dynamic_slice",
    "for_loop",
    "identity_loss",
    "inferenceModel",
    "ipuHardwareIsAvailable",
    "ipuHardwareVersion",
    "ipu_print_tensor",
    "isRunningOnIpu",
    "load",
    "nop",
    "optim",
    "profiling",
    "recomputationCheckpoint",
    "removeBlocks",
    "serializedMatMul",
    "setLogLevel",
    "set_available_memory",
    "set_overlap_for_input",
    "set_overlap_for_output",
    "trainingModel",
]
SPECIAL = {"Options": reference.Options(), "PoplarExecutor": reference.inferenceModel(Regression())}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_table_is_not_served(name: str) -> None:
    """Who serves it takes it out of the table."""
    owner, _, attribute = name.rpartition(".")
    if owner:
        with pytest.raises(AttributeError, match=attribute):
            getattr(SPECIAL[owner], attribute)
    else:
        assert name not in reference.__all__


def test_the_table_is_found() -> None:
    """Whatever else changes in the chapter."""
    assert {"custom_op", "Options.anchorMode", "PoplarExecutor.rng_state"} <= set(NAMES)


def test_what_poptorch_documents_is_served_or_listed() -> None:
    """Each of its names."""
    assert set() == set(DOCUMENTED) - set(reference.__all__) - set(NAMES)


def test_chapter_7_lists_the_names_of_popdist() -> None:
    """All that there are."""
    chapter = (ROOT / "specs" / "7-launch.md").read_text(encoding="utf-8")
    listed = chapter.partition("**PopDist's names.** `popdist` has ")[2].partition("`popdist.poptorch`")[0]
    assert {"poptorch", *re.findall(r"`(\w+)`", listed)} == set(popdist.__all__)
