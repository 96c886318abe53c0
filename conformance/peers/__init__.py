"""Adapters for real loaders, a file each; `BUILT_IN` gives the short names that `--impl` knows."""

from conformance.peers.catalog import PEERS

BUILT_IN = {
    "reference": "reference",
    "reference-feistel": "reference.loaderspec_feistel",
    "torch-exact": "conformance.peers.torch_exact",
    "torch-iterable-exact": "conformance.peers.torch_iterable_exact",
    **{peer.name: f"conformance.peers.{peer.module}" for peer in PEERS},
}
