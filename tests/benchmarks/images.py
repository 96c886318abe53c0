"""Decides what is read: the tutorial's images, images that cost work to decode, and samples that are long in coming."""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, TensorDataset

try:
    from PIL import Image
except ImportError as error:
    raise SystemExit(f"Images are decoded with Pillow ({error}): pip install -e '.[test]' adds it.") from error

SIDE = 128  # pixels, as in the tutorial
_DISTINCT = 200  # encoding is slow: a file serves several samples


@dataclass(frozen=True)
class Load:
    """A dataset, and how it is cut into steps. A step holds micro-batch x device iterations x replicas samples."""

    name: str
    dataset: Dataset[Any]
    batch_size: int
    device_iterations: int
    replicas: int = 1
    shuffle: bool = False

    @property
    def step(self) -> int:
        """Samples of a step."""
        return self.batch_size * self.device_iterations * self.replicas

    @property
    def sample_bytes(self) -> int:
        """Bytes of a sample: its pixels, as float32."""
        return 4 * SIDE * SIDE


def in_memory(samples: int) -> TensorDataset:
    """Images of one channel as the tutorial has them, without labels. Every page is written: none is the zero page."""
    return TensorDataset(torch.rand(samples, 1, SIDE, SIDE))


class Encoded(Dataset[tuple[torch.Tensor, int]]):
    """PNG files in memory, decoded sample by sample: what a dataset in Python costs at the least."""

    def __init__(self, samples: int) -> None:
        self.samples = samples
        self.files = _encoded(min(samples, _DISTINCT))

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        with Image.open(io.BytesIO(self.files[index % len(self.files)])) as image:
            pixels = torch.from_numpy(np.array(image))
        return pixels.unsqueeze(0).float().div_(255), index


class Slow(Dataset[torch.Tensor]):
    """Samples that each take so many seconds of waiting, and no work."""

    def __init__(self, samples: int, seconds: float) -> None:
        self.samples = samples
        self.seconds = seconds

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(self.seconds)
        return torch.tensor([float(index)])


def _encoded(number: int) -> Sequence[bytes]:
    """So many PNG files of one channel: smooth shades under a little noise, which pack about as photographs do."""
    random = np.random.default_rng(0)
    across = np.linspace(0, 3, SIDE)
    files = []
    for _ in range(number):
        slope = random.uniform(0.3, 2, size=2)
        shades = 110 + 90 * np.sin(slope[0] * across)[:, None] * np.cos(slope[1] * across)[None, :]
        noise = random.normal(0, 6, size=(SIDE, SIDE))
        written = io.BytesIO()
        Image.fromarray((shades + noise).clip(0, 255).astype(np.uint8)).save(written, "PNG")
        files.append(written.getvalue())
    return files
