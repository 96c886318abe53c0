"""A batch sampler: each of its batches is one micro-batch, padded by itself, and a step joins what the device takes.

python -m reference.run specs/examples/padded_batches.py
"""

import poptorch
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

LENGTHS = [1, 2, 2, 4, 3, 4]
# Sentences of about the same length; as many of them as make four words or so.
BATCHES = [[0, 1], [2, 4], [3], [5]]


class Sentences(Dataset[Tensor]):
    """Sentence i is LENGTHS[i] times the number i + 1."""

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, index: int) -> Tensor:
        return torch.full((LENGTHS[index],), index + 1)


def padded(sentences: list[Tensor]) -> Tensor:
    """Two rows of four words, 0 where there is none."""
    words = torch.zeros(2, 4, dtype=torch.int64)
    for row, sentence in enumerate(sentences):
        words[row, : len(sentence)] = sentence
    return words


class Counting(nn.Module):
    """The words of a micro-batch, and its sentences."""

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor]:
        return (words > 0).sum(), words.any(dim=1).sum()


if __name__ == "__main__":
    options = poptorch.Options().deviceIterations(2)
    model = poptorch.inferenceModel(Counting(), options)
    for mode in (poptorch.DataLoaderMode.Sync, poptorch.DataLoaderMode.Async):
        loader = poptorch.DataLoader(options, Sentences(), batch_sampler=BATCHES, collate_fn=padded, mode=mode)
        print(f"{mode.name}: {len(loader)} steps of 2 micro-batches")
        for step in loader:
            words, sentences = model(step)
            print(f"  {step.tolist()}: {words.tolist()} words in {sentences.tolist()} sentences")
        loader.terminate()
