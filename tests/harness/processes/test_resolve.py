"""What `--impl` may name: modules, attributes, files, packages, and the sentence for what is none of them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from conformance.contract import AdapterError, Implementation
from conformance.peers import BUILT_IN
from conformance.peers.catalog import PEERS
from conformance.processes.resolve import from_object, resolve

ADAPTER = "claims = dict(when_keeping='pad')\ndef load(request):\n    return [[1000]]\n"
SHAPE = "class Options:\n    pass\nclass DataLoader:\n    pass\n"


@pytest.fixture(autouse=True)
def _imports_leave_no_trace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Stand in an empty folder that is on the import path, and forget what a test imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    for name in [*sys.modules]:
        if name.startswith(("harness_", "loaderspec_adapter_")):
            del sys.modules[name]


def write(path: str, text: str = ADAPTER) -> None:
    """Write a file, and the folders it lies in."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def found(spec: str) -> tuple[str, Any, str | None]:
    """What an implementation is: its name, what it loads, and one of its claims."""
    implementation = resolve(spec)
    return implementation.name, implementation.load(SimpleNamespace()), implementation.claims.when_keeping


# Those of loaders that this project's tests don't install are looked at in tests/peers, without being imported.
INSTALLED = {"torch", "torchdata", "webdataset"}
# DataLoader2 is in no torchdata of today.
ABSENT = {peer.name for peer in PEERS if not set(peer.packages) <= INSTALLED or peer.group == "dl2"}


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in ABSENT])
def test_a_built_in_name_is_found(name: str) -> None:
    """Every short name leads to an implementation of that name."""
    assert name == resolve(name).name


def test_a_module_is_found() -> None:
    """A module with `load` serves."""
    write("harness_a.py")
    assert ("harness_a", [[1000]], "pad") == found("harness_a")


def test_a_module_in_a_package_is_found() -> None:
    """A dotted name serves."""
    write("harness_b/inner.py")
    assert ("harness_b.inner", [[1000]], "pad") == found("harness_b.inner")


def test_an_attribute_of_a_module_is_found() -> None:
    """A class with `load` and `claims` serves by its name behind a colon."""
    write("harness_c.py", "class Mine:\n    claims = dict(when_keeping='drop')\n    load = lambda request: [[7]]\n")
    assert ("harness_c:Mine", [[7]], "drop") == found("harness_c:Mine")


def test_a_function_of_a_module_is_found() -> None:
    """A plain function is `load` itself, without claims."""
    write("harness_d.py", "def make(request):\n    return [[8]]\n")
    assert ("harness_d:make", [[8]], None) == found("harness_d:make")


def test_a_file_is_found() -> None:
    """A path that ends in .py serves, relative to where the person stands."""
    write("some/adapter.py")
    assert ("some/adapter.py", [[1000]], "pad") == found("some/adapter.py")


def test_a_file_with_a_colon_names_an_attribute() -> None:
    """A file takes an attribute as a module does."""
    write("adapter.py", "class Mine:\n    claims = dict(when_keeping='drop')\n    load = lambda request: [[7]]\n")
    assert ("adapter.py:Mine", [[7]], "drop") == found("adapter.py:Mine")


def test_a_file_imports_what_lies_beside_it() -> None:
    """An adapter may import a module from its own folder."""
    write("some/harness_neighbour.py", "ANSWER = [[5]]\n")
    write("some/adapter.py", "from harness_neighbour import ANSWER\ndef load(request):\n    return ANSWER\n")
    assert [[5]] == resolve("some/adapter.py").load(SimpleNamespace())


def test_a_submodule_named_loaderspec_is_found() -> None:
    """A package without `load` is served by its submodule `loaderspec`."""
    write("harness_e/__init__.py", "")
    write("harness_e/loaderspec.py")
    assert ("harness_e", [[1000]], "pad") == found("harness_e")


def test_load_of_the_package_comes_first() -> None:
    """A package with `load` is not asked for a submodule."""
    write("harness_f/__init__.py", "def load(request):\n    return [[9]]\n")
    write("harness_f/loaderspec.py")
    assert [[9]] == resolve("harness_f").load(SimpleNamespace())


def test_the_submodule_comes_before_poptorchs_shape() -> None:
    """What a package says about itself counts more than what it looks like."""
    write("harness_g/__init__.py", SHAPE)
    write("harness_g/loaderspec.py")
    assert ("harness_g", [[1000]], "pad") == found("harness_g")


def test_a_package_of_poptorchs_shape_needs_no_adapter() -> None:
    """Options and DataLoader are enough, and bring PopTorch's claims."""
    write("harness_h.py", SHAPE)
    claims = resolve("harness_h").claims
    assert ("automatic", True, "uneven") == (claims.epochs, claims.device_options, claims.when_keeping)


def test_what_the_adapter_offers_is_kept() -> None:
    """`decode` and `known_failures` come along."""
    holder = SimpleNamespace(load=len, decode=list, known_failures={"PART-1": {}})
    implementation = from_object("mine", holder)
    assert (list, {"PART-1": {}}) == (implementation.decode, implementation.known_failures)


def test_an_instance_serves() -> None:
    """An object with a bound `load` is an adapter."""

    class Mine:
        claims: ClassVar = dict(length=True)

        def load(self, request: Any) -> Any:
            return [[6]]

    implementation: Implementation = from_object("mine", Mine())
    assert ([[6]], True) == (implementation.load(SimpleNamespace()), implementation.claims.length)  # type: ignore[arg-type]


NOT_FOUND = {
    "no_such_module": "there is no module 'no_such_module' on the import path, and it is no built-in name "
    f"({', '.join(BUILT_IN)}) and no file; install the package",
    "no_such.inner": "there is no module 'no_such.inner' on the import path",
    "no_such.py": "there is no file no_such.py; --impl takes the path of an adapter relative to",
    "folder.py": "there is no file folder.py",
    "needs.py": "needs.py can't be imported: it needs 'no_such_module', which is not installed; install it",
    "harness_needs": "harness_needs can't be imported: it needs 'no_such_module', which is not installed; install it",
    "raises.py": "raises.py can't be imported: it raises ValueError: no luck (line 1); fix it until `import` works",
    "harness_raises": "harness_raises can't be imported: it raises ValueError: no luck",
    "leaves.py": "leaves.py can't be imported: it raises SystemExit: 3 (line 2); fix it",
    "harness_leaves": "harness_leaves can't be imported: it raises SystemExit: 3 (line 2); fix it",
    "wrong.py": "wrong.py can't be imported: it raises SyntaxError: ",
    "nothing.py": "nothing.py has no load(request), no submodule 'loaderspec' that has one, and no Options and "
    "DataLoader of PopTorch's shape; nor is it a class or function with parameters of the usual names (dataset, "
    "batch_size, ...); write an adapter with claims = dict(...) and def load(request): ...",
    "shaped.py": "of One and Two in it one can be judged as it stands: --impl=shaped.py:One",
    "adapter.py:Mine": "adapter.py has no attribute 'Mine', which --impl=adapter.py:Mine asks for; check the name",
    "torch-exact:Mine": "torch-exact has no attribute 'Mine'",
    "number.py": "number.py has no load(request)",
    "adapter.py:claims": "adapter.py:claims has no load(request)",
    "known.py": "known_failures in known.py is 'PART-1', but must be a dict of clause id to dict; make it one",
    "unclear.py": "the claim 'shufle' is unknown",
    "harness_package": "harness_package.loaderspec can't be imported: it needs 'no_such_module'",
    "upper.py": "upper.py has CLAIMS, which is not read; did you mean claims? Rename it, or remove it",
    "claim.py": "claim.py has claim, which is not read; did you mean claims?",
    "decode.py": "decode.py has Decode, which is not read; did you mean decode?",
    "lod.py": "lod.py has no load(request) (it has lod; did you mean load?), no submodule",
    "trained.py": "trained.py claims loop, but has no function train (it has trian; did you mean train?); write",
    "upper.py:Mine": "upper.py:Mine has CLAIMS, which is not read; did you mean claims?",
    "": "'' names no implementation; give a name, a module, module:attribute or a .py file",
    ":load": "':load' names no implementation",
    "adapter.py:": "'adapter.py:' names no implementation",
    "..relative": "'..relative' names no implementation",
    "lines.py": "lines.py can't be imported: it raises RuntimeError: one two (line 1); fix it",
    "some/folder": "there is no module 'some/folder'",
}


@pytest.mark.parametrize("spec", NOT_FOUND)
def test_what_is_no_implementation_gets_a_sentence(spec: str) -> None:
    """The sentence says what was looked for, and where."""
    Path("folder.py").mkdir()
    write("adapter.py")
    for name in ("needs.py", "harness_needs.py", "harness_package/loaderspec.py"):
        write(name, "import no_such_module\n")
    write("harness_package/__init__.py", "")
    for name in ("raises.py", "harness_raises.py"):
        write(name, "raise ValueError('no luck')\n")
    for name in ("leaves.py", "harness_leaves.py"):
        write(name, "import sys\nsys.exit(3)\n")
    write("lines.py", "raise RuntimeError('one\\n\\n two')\n")
    write("wrong.py", "def load(request:\n")
    write("nothing.py", "")
    write("number.py", "load = 7\n")
    write("shaped.py", "class One:\n    def __init__(self, dataset): pass\nclass Two(One):\n    pass\n")
    write("known.py", ADAPTER + "known_failures = 'PART-1'\n")
    write("upper.py", f"{ADAPTER.replace('claims', 'CLAIMS')}class Mine:\n    CLAIMS, load = {{}}, print\n")
    write("claim.py", ADAPTER.replace("claims", "claim"))
    write("decode.py", f"{ADAPTER}def Decode(batch): ...\n")
    write("lod.py", ADAPTER.replace("load", "lod"))
    write("trained.py", "claims = dict(loop='step')\ndef load(request): ...\ndef trian(): ...\n")
    write("unclear.py", ADAPTER + "claims = dict(shufle='global')\n")
    with pytest.raises(AdapterError) as error:
        resolve(spec)
    assert NOT_FOUND[spec] in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_that_is_merely_like_another_is_left_alone() -> None:
    """What is no dict makes no claims, a helper may be called much as `decode`, and claims may be put together."""
    write("likes.py", f"CLAIM = 1\n_claims = {{}}\ndef decoder(batch): ...\nKNOWN_CLAIMS = {{}}\n{ADAPTER}")
    write("parts.py", f"CLAIMS = {{}}\n{ADAPTER}")
    assert ["pad", "pad"] == [found(each)[2] for each in ("likes.py", "parts.py")]


def test_a_class_without_load_is_not_called() -> None:
    """A class is a holder of `load`, and never `load` itself."""

    class Nothing:
        pass

    with pytest.raises(AdapterError, match=r"^Nothing has no load\(request\)"):
        from_object("Nothing", Nothing)


def test_a_module_object_serves() -> None:
    """`check(module)` takes what was imported already."""
    module = ModuleType("harness_i")
    module.load = lambda request: [[4]]  # type: ignore[attr-defined]
    assert [[4]] == from_object("harness_i", module).load(SimpleNamespace())  # type: ignore[arg-type]
