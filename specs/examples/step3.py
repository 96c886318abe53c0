"""Step 3: PopDist's options. Each instance also knows how many replicas it drives, and a step feeds all of them.

poprun --num-replicas 8 --num-instances 4 python specs/examples/step3.py
"""

import popdist.poptorch
import poptorch
from made_images import MadeImages

if __name__ == "__main__":
    options = popdist.poptorch.Options()
    dataset = MadeImages()
    loader = poptorch.DataLoader(options, dataset, batch_size=32, drop_last=True)
    images, labels = next(iter(loader))
    print(f"* number of local replicas: {options.replication_factor}")
    print(f"* dataset size: {len(dataset)}\n* dataloader size: {len(loader)}\n* batch size: {len(images)}")
