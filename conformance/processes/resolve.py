"""Where an implementation is: decides what `--impl=X` means.

X is a built-in name, a module, `module:attribute`, a file, `file.py:attribute`, or `stdio:` and a command (`bridge/`).
What serves, in this order: an object with `load`; its submodule `loaderspec`; an object with `Options` and `DataLoader`
of PopTorch's shape; a class or function whose parameters have the usual names (`conformance/shapes/`).
"""

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from conformance.bridge import implementation as bridge
from conformance.contract import OFFERS, AdapterError, Claims, Implementation, parse_claims
from conformance.peers import BUILT_IN
from conformance.processes import poptorch_shape
from conformance.processes.near_misses import hint_of, refuse_near_misses
from conformance.shapes import source
from conformance.shapes.shape import Shape, claims_of, shape_of

# An adapter's file becomes a module of this name with the file's after it.
FILE_MODULE = "loaderspec_adapter_"


def resolve(spec: str) -> Implementation:
    """The implementation that `spec` names. AdapterError says what was looked for, and where."""
    if spec.startswith(bridge.PREFIX):
        return bridge.implementation_of(spec)
    place, colon, attribute = spec.rpartition(":") if ":" in spec else (spec, "", "")
    # A relative module has nothing to be relative to.
    relative = place.startswith(".") and not place.endswith(".py")
    if not place or relative or (colon and not attribute):
        raise AdapterError(f"{spec!r} names no implementation; give a name, a module, module:attribute or a .py file")
    found: Any = _import(BUILT_IN.get(place, place))
    if attribute:
        if not hasattr(found, attribute):
            raise AdapterError(f"{place} has no attribute {attribute!r}, which --impl={spec} asks for; check the name")
        found = getattr(found, attribute)
    return from_object(spec, found)


def files_of(spec: str) -> list[Path]:
    """The files that `spec` may mean, without importing any: its module's, and that of its submodule `loaderspec`."""
    if spec.startswith(bridge.PREFIX):
        return bridge.files_of(spec)
    place = spec.rpartition(":")[0] if ":" in spec else spec
    place = BUILT_IN.get(place, place)
    if place.endswith(".py"):
        return [Path(place)]
    top, *rest = place.split(".")
    try:
        found = importlib.util.find_spec(top) if top else None
    except (ImportError, ValueError):
        return []
    if found is None:
        return []
    folders = [Path(each) for each in found.submodule_search_locations or []]
    if not folders:
        return [Path(found.origin)] if found.origin and not rest else []
    places = [Path(folder, *rest) for folder in folders]
    return [
        path
        for base in places
        for path in (
            base.with_suffix(".py") if rest else base / "__init__.py",
            base / "__init__.py",
            base / "loaderspec.py",
        )
        if path.is_file()
    ]


def from_object(name: str, found: Any) -> Implementation:
    """The implementation behind a module, a class, an instance or a plain `load` function."""
    if isinstance(found, ModuleType) and not hasattr(found, "load"):
        found = _submodule(found) or found
    return replace(_served(name, found), home=_home(found))


def _home(found: Any) -> str:
    """The name of the module that an adapter is, or that its class or function is written in."""
    if isinstance(found, ModuleType):
        return found.__name__
    return str(getattr(found, "__module__", None) or type(found).__module__)


def _served(name: str, found: Any) -> Implementation:
    load = None if _is_method(found) else getattr(found, "load", None)
    if load is None and hasattr(found, "Options") and hasattr(found, "DataLoader"):
        claims = parse_claims(getattr(found, "claims", poptorch_shape.CLAIMS))
        return Implementation(name, poptorch_shape.loader_of(found), claims)
    if load is None and any(hasattr(found, function) for offer in OFFERS.values() for function in offer.needs):
        offering = _implementation(name, _no_loader, found)
        return replace(offering, claims=replace(offering.claims, datasets=()))
    shape = shape_of(found) if load is None else None
    if shape is not None:
        return _of_shape(name, found, shape)
    if load is None and callable(found) and not isinstance(found, type):
        load = found
    if not callable(load):
        raise AdapterError(
            f"{name} has no load(request){hint_of('load', found)}, no submodule 'loaderspec' that has one, and no "
            f"Options and DataLoader of PopTorch's shape{_offered(name, found)}"
        )
    return _implementation(name, load, found)


def _is_method(found: Any) -> bool:
    """Whether `load` is what the objects of a class do, and nothing that takes a request."""
    given = inspect.getattr_static(found, "load", None) if isinstance(found, type) else None
    return isinstance(given, FunctionType) and next(iter(inspect.signature(given).parameters), "") == "self"


def _of_shape(name: str, found: Any, shape: Shape) -> Implementation:
    """An implementation whose adapter is written for it, from the names of its parameters."""
    refuse_near_misses(name, found)
    own = getattr(found, "claims", {})
    claims = {**claims_of(shape), **(own if isinstance(own, dict) else {})}
    scope: dict[str, Any] = {shape.called: found}
    exec(f"{source.imports(shape)}\n{source.code(shape, claims)}", scope)
    made = _implementation(name, scope["load"], SimpleNamespace(**scope))
    return replace(made, shape=shape)


def _offered(name: str, found: Any) -> str:
    """What to do instead: the loaders that a module has, or an adapter."""
    own = getattr(found, "__name__", "")
    shaped = [
        each
        for each, value in (vars(found) if isinstance(found, ModuleType) else {}).items()
        if getattr(value, "__module__", "") == own and shape_of(value) is not None
    ]
    if shaped:
        return f"; of {' and '.join(shaped)} in it one can be judged as it stands: --impl={name}:{shaped[0]}"
    return (
        "; nor is it a class or function with parameters of the usual names (dataset, batch_size, ...); "
        "write an adapter with claims = dict(...) and def load(request): ..."
    )


def _no_loader(request: Any) -> Any:
    raise AdapterError("this adapter has no load(request), and claims no dataset that could be asked for")


def _implementation(name: str, load: Callable[..., Any], holder: Any) -> Implementation:
    refuse_near_misses(name, holder)
    known = getattr(holder, "known_failures", {})
    if not isinstance(known, dict):
        raise AdapterError(
            f"known_failures in {name} is {known!r}, but must be a dict of clause id to dict; make it one"
        )
    claims = parse_claims(getattr(holder, "claims", None))
    return Implementation(name, load, claims, getattr(holder, "decode", None), known, _offers(name, claims, holder))


def _offers(name: str, claims: Claims, holder: Any) -> dict[str, Callable[..., Any]]:
    """The functions beside `load` that the claims speak of. AdapterError if one is missing."""
    offers: dict[str, Callable[..., Any]] = {}
    for claim, offer in OFFERS.items():
        value = getattr(claims, claim)
        if not value:
            continue
        found = {function: getattr(holder, function, None) for function in (*offer.needs, *offer.may)}
        offers |= {function: each for function, each in found.items() if callable(each)}
        for function in offer.needs:
            if function not in offers:
                mend = "write that function, or withdraw the claim"
                raise AdapterError(
                    f"{name} claims {claim}, but has no function {function}{hint_of(function, holder)}; {mend}"
                )
        for named, function in offer.for_value.items():
            if function not in offers and named in (value if isinstance(value, tuple) else (value,)):
                mend = f'write that function, or withdraw "{named}"'
                raise AdapterError(f"{name} claims {named} in {claim}, but has no function {function}; {mend}")
    return offers


def _import(place: str) -> ModuleType:
    if place.endswith(".py"):
        return _import_file(Path(place))
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is not None and (place == error.name or place.startswith(error.name + ".")):
            names = ", ".join(BUILT_IN)
            raise AdapterError(
                f"there is no module {place!r} on the import path, and it is no built-in name ({names}) and no file; "
                "install the package, run from the folder that holds it, or give the path of a .py file"
            ) from error
        raise AdapterError(_import_failed(place, error)) from error
    except (Exception, SystemExit) as error:
        raise AdapterError(_import_failed(place, error)) from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise AdapterError(f"there is no file {path}; --impl takes the path of an adapter relative to {Path.cwd()}")
    name = FILE_MODULE + path.stem
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    # Workers that are spawned import the adapter by its name, and its neighbours lie beside it.
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        found.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise AdapterError(_import_failed(str(path), error)) from error
    return module


def _import_failed(place: str, error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{place} can't be imported: it needs {error.name!r}, which is not installed; install it"
    text = " ".join(str(error).split())
    raised = f"{type(error).__name__}: {text}{_line_of(place, error)}"
    return f"{place} can't be imported: it raises {raised}; fix it until `import` works"


def _line_of(place: str, error: BaseException) -> str:
    """The line of the adapter at which its import ended: `` (line 7)``; of another file, that is named too."""
    if isinstance(error, SyntaxError):
        return ""  # its text has the line
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).is_file()]
    module = Path(place).name.removesuffix(".py").rpartition(".")[2]
    own = [each for each in frames if Path(each.filename).stem == module]
    return f" (line {own[-1].lineno})" if own else ""


def _submodule(package: ModuleType) -> ModuleType | None:
    name = f"{package.__name__}.loaderspec"
    if not hasattr(package, "__path__") or importlib.util.find_spec(name) is None:
        return None
    return _import(name)
