"""Adapters for real loaders, a file each; `BUILT_IN` gives the short names that `--impl` knows."""

BUILT_IN = {
    "reference": "reference",
    "torch": "conformance.peers.torch_map",
    "torch-exact": "conformance.peers.torch_exact",
    "torch-iterable-exact": "conformance.peers.torch_iterable_exact",
}
