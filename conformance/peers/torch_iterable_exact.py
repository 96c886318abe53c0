"""torch's DataLoader under a promise that many users believe it makes: workers share an iterable-style dataset.

They don't: each worker yields all of it, unless the dataset splits itself. Kept as the suite's worked example.
"""

from conformance.peers import torch_map

claims = {**torch_map.claims, "datasets": ("iterable",), "layout": None, "iterable_workers": "split"}
known_failures = {
    "WORK-17": torch_map.known_failures["WORK-17"],
    "LEAK-6": {**torch_map.known_failures["LEAK-6"], "case": "LEAK-6-n3,w1,b1,keep,k1,iterable,killed@1,kind=long"},
}
load = torch_map.load
