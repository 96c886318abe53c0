"""The data-loading walk-through: how fast is the loader, how fast is the device, and which of them waits?

python -m reference.run specs/examples/tuto_data_loading.py --synthetic-data --replicas 4

The device is emulated on the same cores that load, so its figures are those of an emulation.
"""

import argparse
import time
from collections.abc import Iterable
from typing import Any

import poptorch
import torch
from torch import Tensor, nn

CLASSES = 10


class Classifier(nn.Module):
    """A small convolutional network for one-channel images [samples, 1, size, size]."""

    def __init__(self, size: int) -> None:
        super().__init__()
        side = ((size - 2) // 2 - 4) // 2
        self.features = nn.Sequential(
            nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(5, 12, 5), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.scores = nn.Sequential(nn.Flatten(), nn.Linear(12 * side * side, 100), nn.ReLU(), nn.Linear(100, CLASSES))

    def forward(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores and the mean loss."""
        scores = self.scores(self.features(images))
        return scores, nn.functional.cross_entropy(scores, labels)


def rate(steps: Iterable[Any], model: Any, samples: int) -> float:
    """Items a second, over all steps; without a model the loader's alone."""
    start = time.perf_counter()
    count = 0
    for images, labels in steps:
        count += 1
        if model is not None:
            model(images, labels)
    return count * samples / (time.perf_counter() - start)


def experiment(dataset: Any, asked: argparse.Namespace, replicas: int, synthetic: bool) -> None:
    """Measure loader and device, as one case of the walk-through."""
    options = poptorch.Options().deviceIterations(asked.device_iterations).replicationFactor(replicas)
    options.enableSyntheticData(synthetic)
    loader = poptorch.DataLoader(
        options,
        dataset,
        batch_size=asked.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=asked.workers,
        mode=poptorch.DataLoaderMode.Async,
        async_options={"early_preload": True},
    )
    module = Classifier(asked.size)
    model = poptorch.trainingModel(module, options, poptorch.optim.SGD(module.parameters(), lr=0.001, momentum=0.9))
    samples = loader.combinedBatchSize
    kind = "synthetic" if synthetic else "real"
    print(f"{replicas} replicas, {kind} data: {len(loader)} steps of {samples} items")
    try:
        print(f"  loader: {rate(loader, None, samples):.0f} items/s")
        first = next(iter(loader))
        model.compile(*first)
        # Synthetic data isn't read, so the loader needn't run beside it.
        steps = [first] * len(loader) if synthetic else loader
        print(f"  device: {rate(steps, model, samples):.0f} items/s")
    finally:
        loader.terminate()


def arguments() -> argparse.Namespace:
    """What is asked for; the defaults are the walk-through's."""
    parser = argparse.ArgumentParser(description="How fast are loader and device?")
    parser.add_argument("--synthetic-data", action="store_true", help="let the device make its own data")
    parser.add_argument("--replicas", type=int, help="one case with so many replicas (default: cases 1 and 2)")
    parser.add_argument("--samples", type=int, default=10_000, help="images in the dataset (default: 10000)")
    parser.add_argument("--size", type=int, default=128, help="pixels of an image's side (default: 128)")
    parser.add_argument("--batch-size", type=int, default=16, help="the micro-batch (default: 16)")
    parser.add_argument("--device-iterations", type=int, default=50, help="updates in a step (default: 50)")
    parser.add_argument("--workers", type=int, default=8, help="worker processes (default: 8)")
    return parser.parse_args()


def main() -> None:
    """The case that is asked for, or case 1 (one replica) and case 2 (four), with synthetic and with real data."""
    asked = arguments()
    images = torch.randn(asked.samples, 1, asked.size, asked.size)
    dataset = torch.utils.data.TensorDataset(images, torch.randint(CLASSES, (asked.samples,)))
    if asked.replicas is not None or asked.synthetic_data:
        experiment(dataset, asked, asked.replicas or 1, asked.synthetic_data)
        return
    for replicas in (1, 4):
        for synthetic in (True, False):
            experiment(dataset, asked, replicas, synthetic)


if __name__ == "__main__":
    main()
