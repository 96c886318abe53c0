"""The same loader under a promise that many users believe it makes: without drop_last, every sample exactly once.

It does not make it: DistributedSampler repeats samples so that ranks are equal. Kept as the suite's worked example.
"""

from conformance.peers import torch_map

claims = {**torch_map.claims, "when_keeping": "uneven"}
known_failures = torch_map.known_failures
load = torch_map.load
