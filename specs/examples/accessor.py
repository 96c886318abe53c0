"""The accessor: another process loads ahead, into slots that are used again. Who keeps an item must clone it.

python -m reference.run specs/examples/accessor.py
"""

import poptorch
import torch
from torch.utils.data import TensorDataset

if __name__ == "__main__":
    loader = poptorch.DataLoader(poptorch.Options(), TensorDataset(torch.arange(12)), batch_size=2)
    accessor = poptorch.AsynchronousDataAccessor(loader, buffer_size=2)
    for epoch in range(3):
        # An item is only promised to stay as it is until the next one is asked for.
        kept = [items.clone() for (items,) in accessor]
        print(f"epoch {epoch}: {len(kept)} steps, {[items.tolist() for items in kept]}")
    accessor.terminate()
