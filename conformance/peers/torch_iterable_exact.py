"""torch's DataLoader under a promise that many users believe it makes: workers share an iterable-style dataset.

They don't: each worker yields all of it, unless the dataset splits itself. Kept as the suite's worked example.
"""

from conformance.peers import torch_map

claims = {**torch_map.claims, "datasets": ("iterable",), "layout": None, "iterable_workers": "split"}
known_failures = {clause: entry for clause, entry in torch_map.known_failures.items() if clause == "WORK-17"}
load = torch_map.load
