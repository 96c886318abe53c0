"""The helper that compares a loader with the device: what it counts, and what it says."""

import pytest
import torch

import reference as poptorch
from reference.throughput import Rate, main, measure_both, measure_loader, measure_model, verdict
from tests.reference.device.device_probes import Regression, options, step


def test_items_are_the_rows_of_the_steps() -> None:
    """10 samples in steps of 4: 8 items in an epoch, and 12 in three calls."""
    made = options(2)
    loader = poptorch.DataLoader(made, torch.utils.data.TensorDataset(*step(10)), batch_size=2)
    model = poptorch.trainingModel(Regression(), made)
    assert (8, 8) == (measure_loader(loader).items, measure_both(model, loader).items)
    assert 12 == measure_model(model, step(4), 3).items


def test_a_rate_is_items_over_seconds() -> None:
    """Also where the clock stands still."""
    assert (5.0, float("inf")) == (Rate(10, 2.0).per_second, Rate(10, 0.0).per_second)


def test_nothing_to_measure_is_an_error() -> None:
    """A dataset smaller than a step gives no rate."""
    with pytest.raises(ValueError, match="no step to measure"):
        measure_loader([])


@pytest.mark.parametrize(
    ("loader", "synthetic", "expected"),
    [
        (56_388, 33_455, "The loader is no bottleneck: it loads 56388 items/s"),
        (100, 100, "The loader is no bottleneck"),
        (100, 250, "The loader may be the bottleneck: .* of synthetic data, 2.5 times as many"),
    ],
)
def test_the_rule(loader: float, synthetic: float, expected: str) -> None:
    """No bottleneck if the loader is at least as fast as the device with synthetic data."""
    assert verdict(loader, synthetic).startswith(expected.split(": .*")[0])
    assert "\n" not in verdict(loader, synthetic)
    assert verdict(loader, synthetic).endswith(".")


def test_the_times_are_told() -> None:
    """How much faster the loader would have to be."""
    assert verdict(100, 250).endswith("of synthetic data, 2.5 times as many.")


@pytest.mark.parametrize("synthetic", [False, True])
def test_the_command_prints_its_lines(synthetic: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Loader, device with synthetic data, with real data unless it is left out, and the verdict."""
    sizes = ["--samples", "50", "--batch-size", "2", "--device-iterations", "3", "--replicas", "4", "--workers", "0"]
    main([*sizes, *["--synthetic-data"] * synthetic])
    lines = capsys.readouterr().out.splitlines()
    begun = ["loader: ", "device, synthetic data: ", *["device, real data: "] * (not synthetic), "The loader "]
    assert [True] * len(begun) == [line.startswith(word) for line, word in zip(lines, begun, strict=True)]
    assert lines[0].endswith("(2 steps of 24 items)")
