"""Step 2: PopTorch's loader. Instances share out the dataset; each still thinks that it drives one replica.

poprun --num-replicas 8 --num-instances 4 python specs/examples/step2.py
"""

import poptorch
from made_images import MadeImages

if __name__ == "__main__":
    dataset = MadeImages()
    loader = poptorch.DataLoader(poptorch.Options(), dataset, batch_size=32, drop_last=True)
    images, labels = next(iter(loader))
    print(f"* dataset size: {len(dataset)}\n* dataloader size: {len(loader)}\n* batch size: {len(images)}")
