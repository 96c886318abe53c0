"""Where an adapter came from: its source's digest, and the versions of what it is in or imports."""

import sys
from importlib.metadata import version
from types import ModuleType

from conformance.processes.origin import Origin, origin_of
from conformance.processes.resolve import resolve


def test_a_peer_has_a_digest_and_the_packages_that_it_imports() -> None:
    """torch's adapter is a part of this package, and imports torch."""
    found = origin_of(resolve("torch").home)
    assert 12 == len(found.digest or "")
    assert ("torch", version("torch")) in found.packages


def test_a_package_of_poptorchs_shape_is_its_own_adapter() -> None:
    """The digest is of the package itself, and the name of its module is told."""
    assert "reference.loaderspec" == resolve("reference").home
    assert ["loaderspec", "torch"] == [
        name for name, _ in origin_of("reference.loaderspec").packages if name != "numpy"
    ]


def test_what_was_made_here_is_at_home_nowhere() -> None:
    """No name, a module without a file, and Python itself are no error."""
    sys.modules["made_here_only"] = ModuleType("made_here_only")
    try:
        assert Origin(None, (("made_here_only", None),)) == origin_of("made_here_only")
    finally:
        del sys.modules["made_here_only"]
    assert [Origin(), Origin()] == [origin_of(""), origin_of("sys")]
