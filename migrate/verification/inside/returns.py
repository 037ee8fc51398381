"""Notes what functions of the project return, and what scripted code does in their place: numbers and tensors, in short.

The functions are changed as they are compiled. In a compiled or traced program the change leaves nothing: it is behind
`torch.compiler.is_compiling()`, which is a constant there, and nothing is noted while TorchScript records a trace.
"""

from __future__ import annotations

import ast
import importlib.machinery
import math
import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .arrival import Telling

if TYPE_CHECKING:
    from torchlift.at_start.shared.after_import import after_import
else:
    from .after_import import after_import

_MOST_CALLS = 50
_MOST_LEAVES = 64
_MOST_ELEMENTS = 64
_COMPILED_BY = {"jit", "njit", "vectorize", "guvectorize", "stencil", "kernel", "cfunc"}


def note_returns(spool: Telling, copy: str) -> Callable[[], None]:
    """Begin to; the function that is returned tells what was not told yet."""
    notes = _Notes(spool)

    def names(scope: dict[str, Any]) -> tuple[Any, Any]:
        scope_of_all.append(scope)
        return notes.seen, compiling[0]

    scope_of_all: list[dict[str, Any]] = []
    compiling: list[Any] = [lambda: False]

    def torch_is_there(torch: Any) -> None:
        compiling[0] = torch.compiler.is_compiling
        for scope in scope_of_all:
            scope["tl_compiling__"] = compiling[0]
        _watch_programs(torch, notes)

    loader: Any = importlib.machinery.SourceFileLoader
    get_code, to_code = loader.get_code, loader.source_to_code

    def changed_code(self: Any, name: str) -> Any:
        path = self.get_filename(name)
        return self.source_to_code(self.get_data(path), path) if _is_of(path, copy) else get_code(self, name)

    def changed_source(self: Any, data: Any, path: str, *args: Any, **options: Any) -> Any:
        try:
            tree = _changed(ast.parse(data)) if _is_of(path, copy) else data
        except (SyntaxError, ValueError, RecursionError):
            tree = data
        return to_code(self, tree, path, *args, **options)

    loader.get_code, loader.source_to_code = changed_code, changed_source
    package: Any = sys.modules["_torchlift_verify"]
    package.names = names
    after_import("torch", torch_is_there)
    return notes.tell


def _is_of(path: str, copy: str) -> bool:
    return path.startswith(copy + os.sep) and path.endswith(".py") and "site-packages" not in path


class _Notes:
    def __init__(self, spool: Telling) -> None:
        self.spool = spool
        self.calls: dict[tuple[str, str, str], list[Any]] = {}
        self.order = 0
        self.busy = False

    def seen(self, module: str | None, name: str, value: object) -> None:
        """A function returned a value."""
        if self.busy:
            return
        self.busy = True
        try:
            test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
            calls = self.calls.setdefault((test, "__main__" if module is None else module, name), [])
            if len(calls) < _MOST_CALLS:
                told = _in_short(value)
                if told is not None:
                    self.order += 1
                    calls.append([self.order, told])
        except Exception:  # noqa: S110, BLE001, RUF100  (the command comes first)
            pass
        finally:
            self.busy = False

    def quiet_in(self, function: Any) -> Any:
        """The function, during which nothing is noted: what makes a program calls the code that it is made of."""

        @wraps(function)
        def quiet(*args: Any, **kwargs: Any) -> Any:
            was, self.busy = self.busy, True
            try:
                return function(*args, **kwargs)
            finally:
                self.busy = was

        return quiet

    def tell(self) -> None:
        """Tell what was noted since."""
        calls, self.calls = self.calls, {}
        for (test, module, name), values in calls.items():
            self.spool.tell("returns", test=test, module=module, name=name, values=values)


def _watch_programs(torch: Any, notes: _Notes) -> None:
    """Note what programs return that Python functions became, under the names of those functions."""
    compiling = torch.compiler.is_compiling

    def watch(kind: Any, name_of: Callable[[Any], tuple[str, str]]) -> None:
        call = kind.__call__

        def noted(this: Any, *args: Any, **kwargs: Any) -> Any:
            value = call(this, *args, **kwargs)
            if not compiling():
                try:
                    module, name = name_of(this)
                except Exception:  # noqa: BLE001, RUF100  (it has no name that is known)
                    return value
                notes.seen(module, name, value)
            return value

        kind.__call__ = noted

    def of_function(this: Any) -> tuple[str, str]:
        original: Any = getattr(this, "_torchdynamo_inline", None)
        return original.__module__, original.__qualname__

    def of_script(this: Any) -> tuple[str, str]:
        parts = str(this._c._type().qualified_name()).split(".")
        module, name = parts[1:-1], parts[-1]
        module = [part for part in module if not part.startswith("___torch_mangle_")]
        return ".".join(module) or "__main__", name + ".forward"

    for name in ("trace", "trace_module"):
        setattr(torch.jit, name, notes.quiet_in(getattr(torch.jit, name)))
    watch(torch._C.ScriptFunction, of_function)
    watch(torch.jit.ScriptModule, of_script)
    after_import("torch._dynamo.eval_frame", lambda there: watch(there.OptimizedModule, _of_compiled))
    after_import("torch.export", lambda there: _watch_exports(there, notes, compiling))


def _of_compiled(this: Any) -> tuple[str, str]:
    return _forward_of(this._orig_mod)


def _forward_of(module: Any) -> tuple[str, str]:
    return type(module).__module__, type(module).__qualname__ + ".forward"


def _watch_exports(there: Any, notes: _Notes, compiling: Callable[[], bool]) -> None:
    export, to_module = notes.quiet_in(there.export), there.ExportedProgram.module
    names: Any = WeakKeyDictionary()

    @wraps(export)
    def remembered(mod: Any, *args: Any, **kwargs: Any) -> Any:
        program = export(mod, *args, **kwargs)
        names[program] = _forward_of(mod)
        return program

    @wraps(to_module)
    def noted(this: Any, *args: Any, **kwargs: Any) -> Any:
        module = to_module(this, *args, **kwargs)
        name = names.get(this)

        def hook(of: Any, args: Any, value: Any) -> None:
            if not compiling():
                notes.seen(name[0], name[1], value)

        if name is not None:
            module.register_forward_hook(hook)
        return module

    there.export, there.ExportedProgram.module = remembered, noted


def _changed(tree: ast.Module) -> ast.Module:
    """The module with a call before each `return` of its functions."""
    _Returns().visit(tree)
    at = 0
    for node in tree.body:
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if not (is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")):
            break
        at += 1
    first = "tl_seen__, tl_compiling__ = __import__('_torchlift_verify').names(globals())"
    tree.body[at:at] = ast.parse(first).body
    return ast.fix_missing_locations(tree)


class _Returns(ast.NodeTransformer):
    def __init__(self) -> None:
        self.names: list[str] = []
        self.name = ""

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self.names.append(node.name)
        self.generic_visit(node)
        self.names.pop()
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if any(_last_name(decorator) in _COMPILED_BY and not _is_torch(decorator) for decorator in node.decorator_list):
            return node
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in _own_nodes(node)):
            return node
        self.names.append(node.name)
        outer, self.name = self.name, ".".join(self.names)
        self.names.append("<locals>")
        node.body = [one for part in node.body for one in _as_list(self.visit(part))]
        del self.names[-2:]
        if not isinstance(node.body[-1], (ast.Return, ast.Raise)):
            node.body += _told(self.name, node.body[-1])
        self.name = outer
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is None:
            return [*_told(self.name, node), node]
        keep = ast.Assign([ast.Name("tl_value__", ast.Store())], node.value)
        back = ast.Return(ast.Name("tl_value__", ast.Load()))
        lines = [ast.copy_location(keep, node), *_told(self.name, node, "tl_value__"), ast.copy_location(back, node)]
        return [ast.fix_missing_locations(line) for line in lines]


def _told(name: str, where: Any, value: str = "None") -> list[ast.stmt]:
    text = "if not tl_compiling__(): tl_seen__(globals().get('__name__'), %r, %s)" % (name, value)
    lines = ast.parse(text).body
    for line in lines:
        part: Any
        for part in ast.walk(line):
            if "lineno" in part._attributes:
                part.lineno, part.end_lineno = where.lineno, where.lineno
                part.col_offset, part.end_col_offset = where.col_offset, where.col_offset
    return lines


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What a function consists of, without the functions in it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))


def _last_name(decorator: Any) -> Any:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return getattr(decorator, "attr", None) or getattr(decorator, "id", None)


def _is_torch(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith("torch.")


def _as_list(node: Any) -> list[Any]:
    return node if isinstance(node, list) else [node]


def _in_short(value: object) -> list[Any] | None:
    """Leaves of a value in short, None where it holds no number and no tensor or is not to be looked at now.

    [] is a value that was returned and says nothing.
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None and _is_watched(torch):
        return None
    leaves: list[Any] = []
    _add_leaves(value, leaves, torch, 0)
    return leaves


def _is_watched(torch: Any) -> bool:
    """Whether somebody sees each operation on tensors: a trace, a transformation, a mode."""
    inside = torch._C
    if inside._get_tracing_state() is not None or inside._len_torch_dispatch_stack() > 0:
        return True
    if inside._len_torch_function_stack() > 0:
        return True
    return bool(inside._functorch.peek_interpreter_stack() is not None)


def _add_leaves(value: Any, leaves: list[Any], torch: Any, depth: int) -> None:
    if len(leaves) >= _MOST_LEAVES or depth > 6:
        return
    if isinstance(value, (bool, int)):
        leaves.append(["int", [], int(value) if abs(value) < 2**53 else str(value)])
    elif isinstance(value, float):
        leaves.append(["float", [], _plain(value)])
    elif isinstance(value, complex):
        leaves.append(["complex", [], _plain(value.real), _plain(value.imag)])
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            _add_leaves(value[key], leaves, torch, depth + 1)
    elif isinstance(value, (tuple, list)):
        for part in value:
            _add_leaves(part, leaves, torch, depth + 1)
    elif torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter):
        leaves.append(_tensor_in_short(value, torch))
    elif type(value).__module__ == "numpy" and hasattr(value, "__array__") and torch is not None:
        leaves.append(_tensor_in_short(torch.as_tensor(value), torch))


def _tensor_in_short(tensor: Any, torch: Any) -> list[Any]:
    about = [str(tensor.dtype).rpartition(".")[2], list(tensor.shape)]
    with torch.no_grad():
        flat = tensor.detach()
        if flat.layout is not torch.strided:
            flat = flat.to_dense()
        if flat.is_quantized:
            flat = flat.dequantize()
        if flat.is_complex():
            flat = torch.view_as_real(flat)
        flat = flat.reshape(-1)
        some = flat[:: max(1, flat.numel() // 65536)].to("cpu", torch.float64)
        finite = torch.nan_to_num(some, nan=0.0, posinf=0.0, neginf=0.0)
        sums = [float(finite.sum()), float(finite.abs().sum()), float(some.isnan().sum())]
        few = some[:: max(1, some.numel() // _MOST_ELEMENTS)][:_MOST_ELEMENTS]
        return [*about, *sums, *map(_plain, few.tolist())]


def _plain(number: float) -> float | str:
    return number if math.isfinite(number) else repr(number)
