"""Right: a DistributedSampler with set_epoch, drop_last in training, workers that stay, and an evaluation on rank 0."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.arange(21.0).reshape(21, 1)
    dataset = TensorDataset(x, 2 * x)
    sampler = DistributedSampler(dataset, drop_last=True)
    train_loader = DataLoader(
        dataset, batch_size=2, sampler=sampler, drop_last=True, num_workers=1, persistent_workers=True
    )
    valid_loader = DataLoader(TensorDataset(torch.arange(5.0).reshape(5, 1)), batch_size=2)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        model.train()
        for inputs, targets in train_loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()
        if dist.get_rank() == 0:
            model.eval()
            with torch.no_grad():
                for (inputs,) in valid_loader:
                    model.module(inputs)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
