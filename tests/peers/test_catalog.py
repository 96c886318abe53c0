"""The list of peers is complete: names, modules, groups, links, and claims that can be read."""

import ast
from pathlib import Path

import pytest

from conformance.matrix.command import peers
from conformance.peers import BUILT_IN
from conformance.peers.catalog import GROUPS, NOT_JUDGED, PEERS, Peer
from conformance.report.adapter_source import adapter_of

FOLDER = Path(__file__).parent.parent.parent / "conformance" / "peers"
NAMES = [peer.name for peer in PEERS]
# Whose cases have scripts; a case of a pipeline is shown by `--case`.
LOADERS = [peer for peer in PEERS if peer.name != "dataloader2"]


def text_of(peer: Peer) -> str:
    """The source of a peer's adapter: to import it, the peer would have to be installed."""
    return (FOLDER / f"{peer.module}.py").read_text(encoding="utf-8")


def test_each_peer_has_a_name_of_its_own() -> None:
    """No name stands twice, and each one can be given to --impl."""
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) <= set(BUILT_IN)


@pytest.mark.parametrize("peer", PEERS, ids=NAMES)
def test_a_peer_is_installed_by_its_group(peer: Peer) -> None:
    """What a peer needs is among what its group installs, with one version."""
    pinned = {pin.partition("==")[0].partition("[")[0] for pin in GROUPS[peer.group].requires if "==" in pin}
    assert set(peer.packages) <= pinned


@pytest.mark.parametrize("peer", PEERS, ids=NAMES)
def test_an_adapter_says_where_its_claims_are_from(peer: Peer) -> None:
    """Its docstring has the link, and it has claims, and a load or what stands for it."""
    tree = ast.parse(text_of(peer))
    assert "Source of the claims: https://" in (ast.get_docstring(tree) or "")
    assert {"load", "pipeline"} & {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert "\nclaims" in text_of(peer)


def test_the_peers_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """`loaderspec peers` has a line for each, with what to install and what is."""
    assert 0 == peers()
    lines = capsys.readouterr().out.splitlines()
    assert ["name", *NAMES] == [line.split()[0] for line in lines[: 1 + len(NAMES)]]
    assert len(NOT_JUDGED) == sum(line.startswith("not judged: ") for line in lines)
    assert "torch==2.13.0" in lines[1 + NAMES.index("torch")]


@pytest.mark.parametrize("peer", LOADERS, ids=lambda peer: peer.name)
def test_a_script_holds_the_whole_adapter(peer: Peer) -> None:
    """What a reproduction script takes of an adapter has a load, compiles, and asks for nothing of this package."""
    text = adapter_of(peer.name).text
    compile(text, peer.module, "exec")
    assert "def load(request: Any)" in text
    assert "conformance" not in text
    assert "torch_map" not in text
