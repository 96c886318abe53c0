"""Small changes of a module's functions, made at run time: which there are, and how one is put in force.

A module's source is parsed where it is installed, one node is changed, the whole is compiled again, and the code of the
function that holds the change replaces that of the living one. So every class, alias and import stays what it was, and
nothing of the module is copied. Processes that are forked afterwards have the change too; one that is spawned has not.
"""

import ast
import copy
import importlib
import inspect
from collections.abc import Callable, Iterator, MutableSequence
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
# What is only said, and not done: a change there is no fault of a loader.
_HIT = "_loaderspec_line_was_reached"
_SAYS = ("warn", "_log_api_usage_once", "super", "isinstance", "cast")


@dataclass(frozen=True)
class Change:
    """One change: the module, the function's qualified name, the line, and the code there before and after it.

    `number` counts the changes of a module in the order of its source.
    """

    module: str
    number: int
    function: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.before} -> {self.after}"


def changes(module: str) -> list[Change]:
    """Every change of a module's functions, in the order of its source."""
    found = _places(_tree(module))
    return [
        Change(module, number, function, line, ast.unparse(before), ast.unparse(after))
        for number, (function, line, before, after, _) in enumerate(found)
    ]


def apply(change: Change) -> None:
    """Put a change in force in this process. ValueError if the function can't be found any more."""
    tree = _tree(change.module)
    *_, after, put = _places(tree)[change.number]
    put(ast.fix_missing_locations(ast.copy_location(after, put.node)))
    if not _replace(importlib.import_module(change.module), tree, {change.function}):
        raise ValueError(f"{change.module} has no function {change.function} that could be changed")


def count_lines(module: str, lines: MutableSequence[int]) -> None:
    """Let each line of the module's functions that is executed set its item of `lines` to 1, in this process.

    `lines` may be shared memory; what is forked from this process then counts into it as well.
    """
    tree = _tree(module)
    functions = dict(_functions(tree, ""))
    for function in functions.values():
        _Counting().visit(function)
    living = importlib.import_module(module)
    setattr(living, _HIT, lambda line: lines.__setitem__(line, 1))
    _replace(living, ast.fix_missing_locations(tree), set(functions))


class _Counting(ast.NodeTransformer):
    """Puts a call in front of each statement, which says that its line was reached."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [each for statement in statements for each in self._counted(statement)])
        return node

    def _counted(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.Global | ast.Nonlocal):
            return [statement]
        call = ast.Call(ast.Name(_HIT, ast.Load()), [ast.Constant(statement.lineno)], [])
        return [ast.copy_location(ast.Expr(call), statement), statement]


@dataclass(frozen=True)
class _Put:
    """Where a node hangs in its tree; called with another one, it takes its place."""

    parent: ast.AST
    name: str
    at: int | None
    node: Any

    def __call__(self, other: Any) -> None:
        if self.at is None:
            setattr(self.parent, self.name, other)
        else:
            getattr(self.parent, self.name)[self.at] = other


_Place = tuple[str, int, ast.AST, ast.AST, _Put]


def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))


def _places(tree: ast.Module) -> list[_Place]:
    return [place for name, function in _functions(tree, "") for place in _in_function(name, function)]


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The outermost functions with their qualified names; what is nested in one belongs to it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield f"{prefix}{child.name}", child
        elif isinstance(child, ast.If):
            yield from _functions(child, prefix)


def _in_function(name: str, function: ast.FunctionDef) -> Iterator[_Place]:
    for at, statement in enumerate(function.body):
        if at == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # the docstring
        for put in _walk(_Put(function, "body", at, statement)):
            for after in _changed(put.node):
                yield name, put.node.lineno, put.node, after, put


def _walk(put: _Put) -> Iterator[_Put]:
    """The node and all below it that can be changed, but not what is only said to a person."""
    node = put.node
    if isinstance(node, ast.JoinedStr | ast.arguments) or _only_says(node):
        return
    if hasattr(node, "lineno"):
        yield put
    skipped = ("exc", "cause") if isinstance(node, ast.Raise) else ("annotation", "returns", "decorator_list")
    for name, value in ast.iter_fields(node):
        if name in skipped:
            continue
        if isinstance(value, ast.AST):
            yield from _walk(_Put(node, name, None, value))
        elif isinstance(value, list):
            for at, each in enumerate(value):
                if isinstance(each, ast.AST):
                    yield from _walk(_Put(node, name, at, each))


def _only_says(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else node
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    return getattr(called, "attr", getattr(called, "id", "")) in _SAYS


def _changed(node: Any) -> Iterator[ast.AST]:
    for kind, change in _CHANGED:
        if isinstance(node, kind):
            yield from change(node)


def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    other = _COMPARED.get(type(node.ops[0]))
    if len(node.ops) == 1 and other:
        yield ast.Compare(node.left, [other()], node.comparators)


def _operator(node: ast.BinOp) -> Iterator[ast.AST]:
    other = _COMPUTED.get(type(node.op))
    if other and not isinstance(node.left, ast.Constant | ast.JoinedStr):
        yield ast.BinOp(node.left, other(), node.right)


def _bool(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)


def _not(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.Not):
        yield node.operand


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)


def _branch(node: ast.If | ast.IfExp | ast.While) -> Iterator[ast.AST]:
    # Whoever negates `not x` or a comparison does what the changes of these do.
    if not isinstance(node.test, ast.Compare | ast.UnaryOp | ast.Constant):
        other = copy.copy(node)
        other.test = ast.UnaryOp(ast.Not(), node.test)
        yield other


def _statement(node: ast.stmt) -> Iterator[ast.AST]:
    yield _nothing_of(node)


def _nothing_of(node: ast.stmt) -> ast.stmt:
    """What does nothing in the place of a statement: after `super()` a method has to know its class all the same."""
    calls_super = any(isinstance(each, ast.Name) and each.id == "super" for each in ast.walk(node))
    return ast.Expr(ast.Name("__class__", ast.Load())) if calls_super else ast.Pass()


def _assigned(node: ast.Assign) -> Iterator[ast.AST]:
    # A name that is never bound is an error at once, and finds nothing out about the suite.
    if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
        yield _nothing_of(node)


def _called(node: ast.Expr) -> Iterator[ast.AST]:
    if isinstance(node.value, ast.Call | ast.Yield | ast.YieldFrom):
        yield _nothing_of(node)


def _left(node: ast.Break | ast.Continue) -> Iterator[ast.AST]:
    yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()


_CHANGED: tuple[tuple[Any, Callable[[Any], Iterator[ast.AST]]], ...] = (
    (ast.Compare, _compare),
    (ast.BinOp, _operator),
    (ast.BoolOp, _bool),
    (ast.UnaryOp, _not),
    (ast.Constant, _constant),
    (ast.If | ast.IfExp | ast.While, _branch),
    (ast.AugAssign | ast.Raise | ast.Delete, _statement),
    (ast.Assign, _assigned),
    (ast.Expr, _called),
    (ast.Break | ast.Continue, _left),
)


def _replace(module: ModuleType, tree: ast.Module, names: set[str]) -> bool:
    """Give the living functions of these names the code that the tree has for them; False if there was none."""
    compiled = compile(tree, str(module.__file__), "exec", dont_inherit=True)
    new = {(code.co_qualname, code.co_firstlineno): code for code in _codes(compiled)}
    found = False
    for function in _living(module):
        key = (function.__code__.co_qualname, function.__code__.co_firstlineno)
        if function.__module__ == module.__name__ and key[0] in names and key in new:
            function.__code__, found = new[key], True
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _living(holder: Any) -> Iterator[FunctionType]:
    """The functions of a module and of its classes, behind properties, class methods and wrappers."""
    for value in list(vars(holder).values()):
        if isinstance(value, type) and value.__module__ == getattr(holder, "__name__", ""):
            yield from _of_class(value)
        elif isinstance(value, FunctionType):
            yield inspect.unwrap(value)


def _of_class(kind: type) -> Iterator[FunctionType]:
    for value in vars(kind).values():
        for plain in (getattr(value, "__func__", None), getattr(value, "fget", None), value):
            if isinstance(plain, FunctionType):
                yield inspect.unwrap(plain)
        if isinstance(value, type) and value.__module__ == kind.__module__ and value is not kind:
            yield from _of_class(value)
