"""Right: each rank has a dataset over files of its own, so index 0 is another sample on each rank."""

import os

import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return torch.tensor([float(ord(letter)) for letter in self.files[index]])


def make_loader(rank, world_size, num_workers=1):
    files = [f"image-{number:03}.png" for number in range(24)]
    return DataLoader(Files(files[rank::world_size]), batch_size=4, shuffle=True, num_workers=num_workers)


if __name__ == "__main__":
    loader = make_loader(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    for epoch in range(2):
        for batch in loader:
            batch.mean()
