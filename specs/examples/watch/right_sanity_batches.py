"""Right: a trainer that tries two batches of the validation before it trains, as Lightning does."""

import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Squares(Dataset):
    def __len__(self):
        return 30

    def __getitem__(self, index):
        return torch.tensor([float(index)]), torch.tensor([float(index) ** 2])


class Trainer:
    def __init__(self, epochs, sanity_steps=2):
        self.epochs, self.sanity_steps = epochs, sanity_steps

    def fit(self, model, train_loader, valid_loader):
        self.validate(model, valid_loader, self.sanity_steps)
        for _ in range(self.epochs):
            model.train()
            for x, _ in train_loader:
                model(x)
            self.validate(model, valid_loader)

    def validate(self, model, loader, limit=None):
        model.eval()
        with torch.no_grad():
            for step, (x, _) in enumerate(loader):
                if step == limit:
                    break
                model(x)


train, valid = random_split(Squares(), [20, 10], torch.Generator().manual_seed(1))
Trainer(epochs=2).fit(
    torch.nn.Linear(1, 1), DataLoader(train, batch_size=4, shuffle=True), DataLoader(valid, batch_size=4, num_workers=1)
)
