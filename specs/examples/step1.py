"""Step 1: torch's own loader. Each instance that poprun starts goes through the whole dataset.

python -m reference.run specs/examples/step1.py
poprun --num-replicas 8 --num-instances 4 python specs/examples/step1.py
"""

import torch
from made_images import MadeImages

if __name__ == "__main__":
    dataset = MadeImages()
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, drop_last=True)
    images, labels = next(iter(loader))
    print(f"* dataset size: {len(dataset)}\n* dataloader size: {len(loader)}\n* batch size: {len(images)}")
