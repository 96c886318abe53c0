"""Decides whether a loader is the bottleneck: `python -m reference.throughput`, or functions for one's own program.

The rule: the loader is no bottleneck if it delivers at least as many items a second as the device takes of synthetic
data, which it needn't wait for. That holds for a loader that reads ahead; another one loads while the device waits,
and costs time at any speed.

The command measures the shape of the data-loading tutorial: images of 1 x 128 x 128 in float32 with a label.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .dataloader import DataLoader
from .device.models import PoplarExecutor, trainingModel
from .device.tensors import found_in
from .enums import DataLoaderMode
from .options.options import Options

_SIZE = 128
_CLASSES = 10


@dataclass(frozen=True)
class Rate:
    """This many items in this many seconds."""

    items: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Items a second; infinite if the clock has not moved."""
        return self.items / self.seconds if self.seconds > 0 else float("inf")


def measure_loader(loader: Iterable[Any]) -> Rate:
    """Iterate the loader once and count the rows of each step's first tensor. Raises ValueError if there is no step."""
    return _measured(loader, lambda step: None)


def measure_model(model: PoplarExecutor, step: Sequence[Any], steps: int) -> Rate:
    """Call the model so often with one step; compile it before, which is not measured."""
    model.compile(*step)
    return _measured((step for _ in range(steps)), lambda each: model(*each))


def measure_both(model: PoplarExecutor, loader: Iterable[Any]) -> Rate:
    """Call the model with the steps of the loader, once."""
    return _measured(loader, lambda step: model(*step))


def _measured(steps: Iterable[Any], use: Callable[[Any], Any]) -> Rate:
    items, start = 0, time.perf_counter()
    for step in steps:
        items += len(next(found_in(step)))
        use(step)
    seconds = time.perf_counter() - start
    if items == 0:
        raise ValueError("There is no step to measure: give a dataset of one combined batch at least.")
    return Rate(items, seconds)


def verdict(loader: float, synthetic: float) -> str:
    """Return in one line whether a loader of this rate holds up a device that takes that many synthetic items."""
    told = f"it loads {loader:.0f} items/s, and the device takes {synthetic:.0f} items/s of synthetic data"
    if loader >= synthetic:
        return f"The loader is no bottleneck: {told}."
    return f"The loader may be the bottleneck: {told}, {synthetic / loader:.1f} times as many."


class _Classifier(nn.Module):
    """A small network for one-channel images: x [samples, 1, 128, 128], label [samples]."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=8, stride=8),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(8 * (_SIZE // 8) ** 2, _CLASSES),
        )

    def forward(self, x: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores and the mean loss."""
        scores = self.net(x)
        return scores, nn.functional.cross_entropy(scores, label)


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reference.throughput", description="Is the loader the bottleneck?")
    parser.add_argument("--replicas", type=int, default=1, help="replicas of the model (default: 1)")
    parser.add_argument("--workers", type=int, default=8, help="worker processes of the loader (default: 8)")
    parser.add_argument("--samples", type=int, default=10_000, help="images in the dataset (default: 10000)")
    parser.add_argument("--batch-size", type=int, default=16, help="the micro-batch (default: 16)")
    parser.add_argument("--device-iterations", type=int, default=50, help="updates in a step (default: 50)")
    parser.add_argument("--synthetic-data", action="store_true", help="don't measure the device with real data")
    return parser.parse_args(given)


def _model(options: Options) -> PoplarExecutor:
    module = _Classifier()
    return trainingModel(module, options, torch.optim.SGD(module.parameters(), lr=0.001, momentum=0.9))


def main(given: Sequence[str] | None = None) -> None:
    """Measure loader and device as the arguments say, and print four lines."""
    asked = _arguments(given)
    options = Options().deviceIterations(asked.device_iterations).replicationFactor(asked.replicas)
    images = torch.randn(asked.samples, 1, _SIZE, _SIZE)
    labels = torch.randint(_CLASSES, (asked.samples,))
    loader = DataLoader(
        options,
        torch.utils.data.TensorDataset(images, labels),
        batch_size=asked.batch_size,
        shuffle=True,
        num_workers=asked.workers,
        mode=DataLoaderMode.Async,
        async_options={"early_preload": True},
    )
    try:
        _report(options, loader, asked.synthetic_data)
    finally:
        loader.terminate()


def _report(options: Options, loader: DataLoader, only_synthetic: bool) -> None:
    loading = measure_loader(loader)
    print(f"loader: {loading.per_second:.0f} items/s ({len(loader)} steps of {loader.combinedBatchSize} items)")
    samples = loader.combinedBatchSize or 1
    step = (torch.empty(samples, 1, _SIZE, _SIZE), torch.empty(samples, dtype=torch.int64))
    fed = measure_model(_model(options.clone().enableSyntheticData(True)), step, len(loader))
    print(f"device, synthetic data: {fed.per_second:.0f} items/s")
    if not only_synthetic:
        print(f"device, real data: {measure_both(_model(options), loader).per_second:.0f} items/s")
    print(verdict(loading.per_second, fed.per_second))


if __name__ == "__main__":
    main()
