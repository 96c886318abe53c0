"""A worker is killed in the middle of an epoch, as by the system when memory runs out; the loop ends with an error."""

import os
import signal

from torch.utils.data import DataLoader, Dataset


class Large(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        if index == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return [index] * 3


for batch in DataLoader(Large(), batch_size=2, num_workers=1, collate_fn=list):
    sum(batch[0])
