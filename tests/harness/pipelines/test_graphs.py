"""The graphs that are asked for: what is sharded twice on one path, and what is not."""

from pathlib import Path

import pytest
from torch.utils.data.graph_settings import apply_sharding

from conformance.loader.probes import Watch, empty_folder
from conformance.pipelines.graph import build
from conformance.pipelines.scenario import BRANCHES, PipelineScenario, from_code

SHAPES = ("zip", "concat", "fork", "zip+joined", "concat+joined", "fork+joined", "zip+concat", "zip+concat+joined")


def _built(scenario: PipelineScenario, folder: Path) -> object:
    watches = (Watch(empty_folder(str(folder), name), "", consumer=0) for name in ("source", "seen"))
    return build(scenario, *watches)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_filter_on_each_path_is_right(shape: str, tmp_path: Path) -> None:
    """Torch shards it."""
    scenario = from_code(f"n4,w1,b1,pipeline,with={shape}")
    assert scenario.asked <= BRANCHES
    apply_sharding(_built(scenario, tmp_path), 1, 0)


@pytest.mark.parametrize("shape", ["twice", *(f"{shape}+twice" for shape in SHAPES)])
def test_two_filters_on_a_path_are_not(shape: str, tmp_path: Path) -> None:
    """Torch refuses it, wherever the branches are."""
    pipe = _built(from_code(f"n4,w1,b1,pipeline,with={shape}"), tmp_path)
    with pytest.raises(RuntimeError, match="Sharding twice"):
        apply_sharding(pipe, 1, 0)
