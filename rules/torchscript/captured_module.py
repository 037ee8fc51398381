"""Whether the module that is captured behaves the same under tracing and under export, read from its class.

Only constructs that are known to agree are accepted. Everything else becomes a `Doubt` that names it: the traps of
`torch.export` are silent more often than not, so what was not read counts as not checked.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from torchlift.finding import Safety
from torchlift.project import Project
from torchlift.view import Binding, ModuleView

# Layers that `tests/test_captured_module.py` captures both ways and compares on a second batch size.
STATELESS_LAYERS = frozenset(
    """Linear Identity Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LayerNorm GroupNorm
    ReLU ReLU6 LeakyReLU PReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh LogSigmoid Softmax LogSoftmax Hardswish
    Hardsigmoid Hardtanh Softplus Softsign MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d
    AdaptiveAvgPool2d AdaptiveMaxPool2d Flatten Embedding ZeroPad2d ReflectionPad2d PixelShuffle""".split()
)
STATEFUL_LAYERS = frozenset("BatchNorm1d BatchNorm2d BatchNorm3d Dropout Dropout1d Dropout2d Dropout3d".split())
_INPLACE_FIRST = frozenset({"ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid"})
_CONTAINERS = frozenset({"Sequential", "ModuleList"})
_SEQUENCE_LAYERS = frozenset({"RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"})

# Functions and tensor methods that mean the same when traced and when exported, for any batch size; same test.
PURE_FUNCTIONS = frozenset(
    """torch.relu torch.sigmoid torch.tanh torch.softmax torch.log_softmax torch.exp torch.log torch.sqrt torch.abs
    torch.cat torch.stack torch.flatten torch.mean torch.sum torch.matmul torch.bmm torch.add torch.mul torch.sub
    torch.div torch.clamp torch.transpose torch.permute torch.unsqueeze torch.squeeze torch.reshape torch.sin torch.cos
    torch.square torch.outer torch.ger torch.where torch.amax torch.amin torch.norm
    torch.nn.functional.relu torch.nn.functional.relu6 torch.nn.functional.leaky_relu torch.nn.functional.elu
    torch.nn.functional.gelu torch.nn.functional.silu torch.nn.functional.softmax torch.nn.functional.log_softmax
    torch.nn.functional.sigmoid torch.nn.functional.tanh torch.nn.functional.softplus torch.nn.functional.normalize
    torch.nn.functional.max_pool2d torch.nn.functional.avg_pool2d torch.nn.functional.adaptive_avg_pool2d
    torch.nn.functional.linear torch.nn.functional.conv2d torch.nn.functional.pad torch.nn.functional.layer_norm""".split()
)
PURE_METHODS = frozenset(
    """view reshape flatten mean sum relu sigmoid tanh softmax log_softmax exp log sqrt abs transpose permute unsqueeze
    squeeze contiguous matmul mm bmm add mul sub div clamp t pow square amax amin size dim""".split()
)
# Layers and functions whose result is always a new tensor, so that changing it in place concerns nobody else.
_FRESH_LAYERS = frozenset(
    """Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LayerNorm GroupNorm BatchNorm1d
    BatchNorm2d BatchNorm3d""".split()
)
# Methods of a module that neither change its mode nor put anything into it.
_HARMLESS_METHODS = frozenset(
    """eval load_state_dict state_dict parameters named_parameters buffers named_buffers to cpu cuda float half double
    forward zero_grad requires_grad_""".split()
)
# Methods of nn.Module that a class may override and so change what the calls in the file mean.
_MODULE_METHODS = frozenset(
    """eval train apply to cpu cuda float half double parameters named_parameters modules named_modules children
    named_children state_dict load_state_dict requires_grad_ add_module register_module register_buffer
    register_parameter register_forward_hook register_forward_pre_hook""".split()
)
_SELF_RETURNING = frozenset({"eval", "train", "to", "cuda", "cpu", "float", "half", "double", "requires_grad_"})


@dataclass(frozen=True)
class Doubt:
    """A reason why capture by export might differ from the trace.

    Attributes:
        reason: a clause: "`forward` branches on its input (line 12)".
        safety: `UNSAFE` if it may be fine, `MANUAL` if export surely fails or differs.
    """

    reason: str
    safety: Safety = Safety.UNSAFE


@dataclass
class CapturedModule:
    """The module instance that is traced.

    Attributes:
        expression: a description for messages.
        proven: whether it is surely an instance of a class that was read.
        evaluated: whether `.eval()` surely ran on it before the capture, and `.train()` not since.
        moved: whether it (or its parameters) may be on another device than the CPU.
        stateful: whether it has layers whose behaviour depends on train and eval mode.
        parameters: number of positional parameters of `forward`, without `self`; None if unknown.
        doubts: everything that speaks against a safe rewrite.
    """

    expression: str
    proven: bool = False
    evaluated: bool = False
    moved: bool = False
    stateful: bool = True
    parameters: int | None = None
    doubts: list[Doubt] = field(default_factory=list)


@dataclass
class _ClassFacts:
    """What is known of a module made by a call.

    Attributes:
        stateful, parameters, doubts: as in `CapturedModule`.
        fresh: whether its result is always a new tensor.
        changes_input: whether it changes the tensor it is called with in place.
    """

    stateful: bool = False
    parameters: int | None = None
    doubts: list[Doubt] = field(default_factory=list)
    fresh: bool = False
    changes_input: bool = False


def read_captured_module(view: ModuleView, node: ast.expr, at: ast.expr, project: Project) -> CapturedModule:
    """What is known of the module expression `node` that is captured by the call `at`."""
    module = CapturedModule(view.text(node) if node.end_lineno == node.lineno else "the module")
    creation = _creation(view, node, module, depth=0)
    _read_mode(view, node, at, module)
    if creation is None:
        module.doubts.append(Doubt(f"the class of `{module.expression}` is not visible here"))
        return module
    facts = _facts_of_call(view, creation, project, ())
    module.proven = True
    module.stateful = facts.stateful
    module.parameters = facts.parameters
    module.doubts += facts.doubts
    return module


def _creation(view: ModuleView, node: ast.expr, module: CapturedModule, depth: int) -> ast.Call | None:
    """The call that makes the module, through variables and methods that return the module itself."""
    if depth > 12:
        return None
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        if binding is None or binding.kind != "assign" or binding.value is None:
            return None
        return _creation(view, binding.value, module, depth + 1)
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in _SELF_RETURNING:
        inner = _creation(view, function.value, module, depth + 1)
        if inner is not None:
            if function.attr in {"to", "cuda"}:
                module.moved = True
            if depth == 0:
                module.evaluated = _chain_mode(node)
            return inner
    return node


def _chain_mode(node: ast.expr | None) -> bool:
    """Whether the outermost mode switch of a chain of method calls is `.eval()`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"eval", "train"}:
            return node.func.attr == "eval"
        node = node.func.value
    return False


def _read_mode(view: ModuleView, node: ast.expr, at: ast.expr, module: CapturedModule) -> None:
    """Follow the variable that holds the module: was `.eval()` called last, and does nothing else get hold of it."""
    capture = view.statement(at)
    inside = {id(capture), *(id(ancestor) for ancestor in view.ancestors(capture))}
    for depth, binding in enumerate(_variables(view, node)):
        statement = binding.statement
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or (
            isinstance(statement, ast.Assign) and len(statement.targets) > 1
        ):
            module.doubts.append(Doubt(f"`{binding.name}` is not the only name of the module"))
        if depth == 0:
            module.evaluated = _chain_mode(binding.value)
        for read, _ in view.reads_of(binding):
            _read_use(view, read, capture, inside, module, follows_eval=depth == 0)


def _variables(view: ModuleView, node: ast.expr) -> list[Binding]:
    """The bindings that the module passes through, from the capture back to its creation."""
    found: list[Binding] = []
    while len(found) < 12:
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SELF_RETURNING:
            node = node.func.value
        binding = view.definition(node)
        if binding is None or binding.kind != "assign" or binding.value is None or binding in found:
            break
        found.append(binding)
        node = binding.value
    return found


def _read_use(
    view: ModuleView, read: ast.Name, capture: ast.stmt, inside: set[int], module: CapturedModule, *, follows_eval: bool
) -> None:
    parent = view.parent(read)
    statement = view.statement(read)
    if statement is capture or _surely_later(view, read, statement, capture):
        return
    call = view.parent(parent) if isinstance(parent, ast.Attribute) else None
    if isinstance(parent, ast.Call) and parent.func is read:
        return
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent:
        if parent.attr in {"to", "cuda"}:
            module.moved = True
        if parent.attr == "eval" and follows_eval:
            block = view.block(statement)
            straight = any(id(other) in inside for other in block[block.index(statement) + 1 :])
            if straight and isinstance(view.parent(call), (ast.Expr, ast.Assign)):
                module.evaluated = True
            return
        if parent.attr == "train":
            module.evaluated = False
            return
        if parent.attr in _HARMLESS_METHODS:
            return
    if isinstance(parent, ast.Attribute):
        what = f"`.{parent.attr}` of it is used on line {read.lineno}"
    else:
        what = f"it is handed on at line {read.lineno}"
        module.evaluated = False
    module.doubts.append(Doubt(f"`{read.id}` may be changed before the capture: {what}"))


def _surely_later(view: ModuleView, read: ast.Name, statement: ast.stmt, capture: ast.stmt) -> bool:
    """Whether a read can only run after the capture: later in the same function, and not in a loop around both."""
    if (statement.lineno, statement.col_offset) <= (capture.lineno, capture.col_offset):
        return False
    if view.function_of(read) is not view.function_of(capture):
        return False
    if any(isinstance(ancestor, (ast.Lambda, ast.ClassDef)) for ancestor in view.ancestors(read)):
        return False
    around = {id(a) for a in view.ancestors(capture) if isinstance(a, (ast.For, ast.AsyncFor, ast.While))}
    return not any(id(ancestor) in around for ancestor in view.ancestors(read))


def _facts_of_call(view: ModuleView, call: ast.Call, project: Project, path: tuple[str, ...]) -> _ClassFacts:
    """Facts about the module that a constructor call makes."""
    shown = view.text(call.func) if call.func.end_lineno == call.func.lineno else "a call"
    resolution = view.resolve(call.func)
    if resolution is not None and resolution.certain and resolution.name.startswith("torch.nn."):
        return _torch_layer(view, call, resolution.name, project, path)
    found = _class_of(view, call.func, project)
    if found is None:
        if resolution is not None and resolution.name.startswith("torch.jit."):
            return _ClassFacts(
                doubts=[Doubt(f"`{resolution.name}` makes part of it, which export rejects", Safety.MANUAL)]
            )
        return _ClassFacts(stateful=True, doubts=[Doubt(f"what `{shown}` returns was not read")])
    owner, definition = found
    key = f"{owner.path}:{definition.lineno}"
    if key in path:
        return _ClassFacts(stateful=True, doubts=[Doubt(f"`{definition.name}` contains itself")])
    return _ClassReader(owner, definition, project, (*path, key)).read()


def _class_of(view: ModuleView, node: ast.expr, project: Project) -> tuple[ModuleView, ast.ClassDef] | None:
    binding: Binding | None = view.definition(node)
    if binding is not None and isinstance(binding.node, ast.ClassDef):
        return view, binding.node
    resolution = view.resolve(node)
    if resolution is None or not resolution.certain:
        return None
    found = project.binding(resolution.name, view.path)
    if found is None or not isinstance(found[1].node, ast.ClassDef):
        return None
    return found[0], found[1].node


def _torch_layer(view: ModuleView, call: ast.Call, name: str, project: Project, path: tuple[str, ...]) -> _ClassFacts:
    layer = name.removeprefix("torch.nn.")
    if layer in STATELESS_LAYERS | STATEFUL_LAYERS:
        facts = _ClassFacts(layer in STATEFUL_LAYERS, parameters=1, fresh=layer in _FRESH_LAYERS)
        facts.changes_input = any(
            keyword.arg == "inplace" and not _is_false(keyword.value) for keyword in call.keywords
        ) or (layer in _INPLACE_FIRST and bool(call.args) and not _is_false(call.args[0]))
        if any(keyword.arg is None or keyword.arg == "max_norm" for keyword in call.keywords) or (
            layer == "Embedding" and len(call.args) > 3
        ):
            facts.doubts.append(Doubt(f"`{name}` is made with arguments that were not read"))
        return facts
    if layer in _SEQUENCE_LAYERS:
        reason = f"`{name}` fixes the sequence length at export (a trace did not)"
        return _ClassFacts(stateful=True, doubts=[Doubt(reason)])
    if layer in _CONTAINERS:
        facts = _ClassFacts(parameters=1 if layer == "Sequential" else None)
        parts: list[ast.expr] = []
        for argument in call.args:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            if isinstance(inner, (ast.List, ast.Tuple)):
                parts += inner.elts
            elif isinstance(inner, (ast.ListComp, ast.GeneratorExp)):
                parts.append(inner.elt)
            else:
                parts.append(inner)
        previous_fresh = False
        for position, part in enumerate(parts):
            target = part
            if isinstance(part, ast.Name) and (b := view.definition(part)) is not None and b.value is not None:
                target = b.value
            if isinstance(target, ast.Call):
                inner_facts = _facts_of_call(view, target, project, path)
                facts.stateful |= inner_facts.stateful
                facts.doubts += inner_facts.doubts
                if inner_facts.changes_input and not previous_fresh:
                    # In front it changes the container's own input; elsewhere something the container was given.
                    facts.changes_input = True
                    if position or layer != "Sequential":
                        facts.doubts.append(Doubt(f"a part of a `{layer}` works in place on what was not read"))
                previous_fresh = inner_facts.fresh or (inner_facts.changes_input and previous_fresh)
                facts.fresh = previous_fresh
            else:
                facts.doubts.append(Doubt(f"a part of a `{layer}` was not read"))
                previous_fresh = False
        return facts
    return _ClassFacts(
        stateful=True, doubts=[Doubt(f"`{name}` is not among the layers known to export like they trace")]
    )


class _ClassReader:
    """Reads one class of the project that is used as a module."""

    def __init__(self, view: ModuleView, node: ast.ClassDef, project: Project, path: tuple[str, ...]) -> None:
        self.view = view
        self.node = node
        self.project = project
        self.path = path
        self.facts = _ClassFacts()
        self.methods = {
            item.name: item for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        self.submodules: set[str] = set()
        self.lists: set[str] = set()
        self.plain: set[str] = set()
        self.fixed: set[str] = set()
        self.fresh: set[str] = set()
        self.changing: set[str] = set()
        self.read_methods: set[str] = set()

    def doubt(self, node: ast.AST, what: str, safety: Safety = Safety.UNSAFE) -> None:
        line = getattr(node, "lineno", self.node.lineno)
        self.facts.doubts.append(Doubt(f"{what} ({self.view.path}:{line})", safety))

    def read(self) -> _ClassFacts:
        if not self._plain_module():
            return self.facts
        for statement in self.node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ast.Pass) or (isinstance(statement, ast.AnnAssign) and statement.value is None):
                continue
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and _is_plain_value(statement.value):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = {target.id for target in targets if isinstance(target, ast.Name)}
                self.plain |= names
                self.fixed |= names
                continue
            self.doubt(statement, f"the body of `{self.node.name}` holds more than methods and constants")
        for name in self.methods:
            if (name.startswith("__") and name not in {"__init__", "__repr__"}) or name in _MODULE_METHODS:
                self.doubt(self.methods[name], f"`{self.node.name}` defines `{name}`")
        if "__init__" in self.methods:
            self._read_init(self.methods["__init__"])
        for chain in self.view.scopes.chains.get(self.node.name, ()):
            if isinstance(getattr(chain.top, "ctx", None), ast.Store):
                self.doubt(chain.top, f"`{self.node.name}` is changed after its definition")
        forward = self.methods.get("forward")
        if forward is None:
            self.doubt(self.node, f"`{self.node.name}` has no `forward` of its own")
        else:
            self._read_method(forward, is_forward=True)
        return self.facts

    def _plain_module(self) -> bool:
        self.facts.stateful = False
        names = []
        for base in self.node.bases:
            resolution = self.view.resolve(base)
            names.append(resolution.name if resolution is not None and resolution.certain else None)
        if names == ["torch.nn.Module"] and not self.node.keywords and not self.node.decorator_list:
            return True
        self.facts.stateful = True
        if any(name in {"torch.jit.ScriptModule"} for name in names):
            self.doubt(
                self.node, f"`{self.node.name}` is a `torch.jit.ScriptModule`, which export rejects", Safety.MANUAL
            )
        elif self.node.decorator_list:
            self.doubt(self.node, f"`{self.node.name}` is decorated")
        else:
            self.doubt(self.node, f"`{self.node.name}` has base classes that were not read")
        return False

    # __init__

    def _read_init(self, init: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for statement in init.body:
            self._init_statement(statement)

    def _init_statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assert() | ast.Raise():
                return
            case ast.If():
                for inner in [*statement.body, *statement.orelse]:
                    self._init_statement(inner)
            case ast.For():
                for inner in [*statement.body, *statement.orelse]:
                    self._init_statement(inner)
            case ast.Expr(value=ast.Call() as call):
                self._init_call(call)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == "self"
                ):
                    self._init_attribute(target.attr, value)
                elif not isinstance(target, ast.Name):
                    self.doubt(statement, "`__init__` assigns to something that was not followed")
            case _:
                self.doubt(statement, "`__init__` holds a statement that was not read")

    def _init_call(self, call: ast.Call) -> None:
        function = call.func
        if isinstance(function, ast.Attribute):
            base = function.value
            if (
                isinstance(base, ast.Call)
                and isinstance(base.func, ast.Name)
                and base.func.id == "super"
                and function.attr == "__init__"
            ):
                return
            on_self = isinstance(base, ast.Name) and base.id == "self"
            if on_self and function.attr in {"register_buffer", "register_parameter"} and call.args:
                if isinstance(call.args[0], ast.Constant):
                    self.plain.add(str(call.args[0].value))
                    return
            elif on_self and function.attr == "add_module" and len(call.args) == 2:
                if isinstance(call.args[0], ast.Constant) and isinstance(call.args[1], ast.Call):
                    self._submodule(str(call.args[0].value), call.args[1])
                    return
            elif (
                (attribute := _self_attribute(base)) is not None
                and attribute in self.submodules
                and function.attr == "append"
                and call.args
                and isinstance(call.args[0], ast.Call)
            ):
                self._submodule(attribute, call.args[0])
                return
        resolution = self.view.resolve(function)
        if resolution is not None and resolution.certain and resolution.name.startswith("torch.nn.init."):
            return
        self.doubt(call, "`__init__` calls something that was not read")

    def _submodule(self, name: str, call: ast.Call) -> None:
        facts = _facts_of_call(self.view, call, self.project, self.path)
        self.facts.stateful |= facts.stateful
        self.facts.doubts += facts.doubts
        again = name in self.submodules
        self.submodules.add(name)
        if facts.changes_input:
            self.changing.add(name)
        if facts.fresh and not again:
            self.fresh.add(name)
        elif not facts.fresh:
            self.fresh.discard(name)

    def _init_attribute(self, name: str, value: ast.expr) -> None:
        for known in (self.plain, self.fixed, self.submodules, self.fresh):
            if name in known:
                self.doubt(value, f"`self.{name}` is set more than once")
            known.discard(name)
        if _is_plain_value(value):
            self.plain.add(name)
            self.fixed.add(name)
            return
        if isinstance(value, ast.Name):
            # A parameter of __init__ may be a module; it counts as one only if forward calls it.
            self.plain.add(name)
            if self._is_number_parameter(value):
                self.fixed.add(name)
            return
        if isinstance(value, ast.Call):
            resolution = self.view.resolve(value.func)
            known_name = resolution.name if resolution is not None and resolution.certain else ""
            if known_name == "torch.nn.Parameter" or (known_name.startswith("torch.") and known_name.count(".") == 1):
                self.plain.add(name)
                return
            if isinstance(value.func, ast.Name) and value.func.id in {"int", "float", "len", "max", "min", "bool"}:
                self.plain.add(name)
                self.fixed.add(name)
                return
            self._submodule(name, value)
            return
        if _is_arithmetic(value):
            self.plain.add(name)
            return
        self.doubt(value, f"`self.{name}` is set to something that was not read")

    def _is_number_parameter(self, name: ast.Name) -> bool:
        """Whether a parameter of `__init__` is a plain Python value, by its annotation or its default."""
        arguments = self.methods["__init__"].args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip(reversed([a.arg for a in positional]), reversed(arguments.defaults), strict=False))
        defaults |= {
            a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None
        }
        for argument in [*positional, *arguments.kwonlyargs]:
            if argument.arg == name.id:
                if isinstance(argument.annotation, ast.Name) and argument.annotation.id in {
                    "int",
                    "bool",
                    "str",
                    "float",
                }:
                    return True
                default = defaults.get(name.id)
                return isinstance(default, ast.Constant) and default.value is not None
        return False

    # forward

    def _read_method(self, method: ast.FunctionDef | ast.AsyncFunctionDef, *, is_forward: bool = False) -> None:
        if method.name in self.read_methods:
            return
        self.read_methods.add(method.name)
        arguments = method.args
        if method.decorator_list:
            self.doubt(method, f"`{method.name}` is decorated")
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            self.doubt(method, f"`{method.name}` takes a variable number of arguments")
        if arguments.defaults:
            self.doubt(method, f"`{method.name}` has arguments with defaults, which export fixes")
        positional = [*arguments.posonlyargs, *arguments.args][1:]
        if is_forward:
            self.facts.parameters = len(positional)
            for argument in positional:
                if argument.annotation is not None:
                    resolution = self.view.resolve(argument.annotation)
                    if resolution is None or resolution.name != "torch.Tensor":
                        self.doubt(argument, f"`{argument.arg}` of `forward` is not annotated as a tensor")
        reader = _BodyReader(self, {argument.arg for argument in positional})
        reader.block(method.body)


class _BodyReader:
    """Accepts the statements and expressions of a `forward` that are known to capture alike."""

    def __init__(self, owner: _ClassReader, tensors: set[str]) -> None:
        self.owner = owner
        self.view = owner.view
        self.inputs = set(tensors)
        self.fresh: set[str] = set()
        self.modules: set[str] = set()
        self.shapes: set[str] = set()

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        owner = self.owner
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case ast.Return(value=None):
                owner.doubt(node, "`forward` returns nothing")
            case ast.Return(value=ast.expr() as value):
                elements = value.elts if isinstance(value, ast.Tuple) else [value]
                for element in elements:
                    if not self._gives_tensor(element):
                        owner.doubt(node, "`forward` returns something that may not be a tensor")
                    self.expression(element)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assignment(target, value)
            case ast.AugAssign(target=ast.Name() as target, value=value):
                if target.id not in self.fresh:
                    owner.doubt(node, "`forward` changes a tensor in place that others may see")
                self.expression(value)
            case ast.For(target=target, iter=iterable):
                self._loop(target, iterable)
                self.block([*node.body, *node.orelse])
            case ast.If(test=test) if self._is_fixed(test):
                self.block([*node.body, *node.orelse])
            case ast.If():
                owner.doubt(node, "`forward` branches on something other than constants of the module")
            case ast.Expr(value=value):
                self.expression(value)
            case _:
                owner.doubt(node, "`forward` holds a statement that was not read")

    def _assignment(self, target: ast.expr, value: ast.expr) -> None:
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if not all(isinstance(name, ast.Name) for name in names):
            self.owner.doubt(target, "`forward` stores into an attribute or an element; export freezes such state")
            return
        shape, fresh = self._is_shape(value), self._is_fresh(value)
        self.expression(value)
        for name in names:
            assert isinstance(name, ast.Name)
            (self.shapes.add if shape else self.shapes.discard)(name.id)
            (self.fresh.add if fresh and len(names) == 1 else self.fresh.discard)(name.id)
            self.inputs.discard(name.id)

    def _loop(self, target: ast.expr, iterable: ast.expr) -> None:
        if (
            isinstance(iterable, ast.Call)
            and isinstance(iterable.func, ast.Name)
            and iterable.func.id
            in {
                "enumerate",
                "zip",
                "reversed",
            }
        ):
            sources = iterable.args
        else:
            sources = [iterable]
        for source in sources:
            attribute = _self_attribute(source)
            if attribute in self.owner.submodules:
                self.modules |= {name.id for name in ast.walk(target) if isinstance(name, ast.Name)}
            elif isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
                if not all(self._is_fixed(argument) for argument in source.args):
                    self.owner.doubt(source, "`forward` loops as often as its input says")
            else:
                self.owner.doubt(source, "`forward` loops over something that was not read")

    def _is_fixed(self, node: ast.expr) -> bool:
        """Whether a value depends on constants of the module only, and not on train or eval mode."""
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and child.id != "self":
                if not (isinstance(child.ctx, ast.Load) and child.id == "len"):
                    return False
            elif isinstance(child, ast.Attribute):
                attribute = _self_attribute(child)
                if attribute is None or attribute not in self.owner.fixed | self.owner.submodules:
                    return False
            elif isinstance(child, ast.Call) and not (isinstance(child.func, ast.Name) and child.func.id == "len"):
                return False
        return True

    def _gives_tensor(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp):
            return self._gives_tensor(node.operand)
        if isinstance(node, (ast.Name, ast.Call, ast.BinOp)):
            return not self._is_shape(node)
        return False

    def _is_shape(self, node: ast.expr) -> bool:
        """Whether a value is a size, a rank or a number and not a tensor."""
        match node:
            case ast.Constant() | ast.Attribute(attr="shape" | "ndim"):
                return True
            case ast.Name():
                return node.id in self.shapes
            case ast.Attribute():
                return _self_attribute(node) in self.owner.fixed
            case ast.Subscript(value=value):
                return self._is_shape(value)
            case (
                ast.Call(func=ast.Attribute(attr="size" | "dim" | "numel")) | ast.Call(func=ast.Name(id="len" | "int"))
            ):
                return True
            case ast.UnaryOp():
                return self._is_shape(node.operand)
            case ast.BinOp():
                return self._is_shape(node.left) and self._is_shape(node.right)
            case ast.Tuple():
                return all(self._is_shape(element) for element in node.elts)
            case _:
                return False

    def _is_fresh(self, node: ast.expr) -> bool:
        """Whether a value is a tensor that nothing else refers to."""
        match node:
            case ast.Name():
                return node.id in self.fresh
            case ast.BinOp():
                return not self._is_shape(node)
            case ast.Call(func=function):
                attribute = _self_attribute(function)
                if attribute in self.owner.changing:
                    return bool(node.args) and self._is_fresh(node.args[0])
                return attribute in self.owner.fresh
            case _:
                return False

    def expression(self, node: ast.expr) -> None:
        owner = self.owner
        match node:
            case ast.Constant() | ast.Name():
                return
            case ast.Call():
                self._call(node)
            case ast.Attribute():
                attribute = _self_attribute(node)
                if attribute is not None:
                    if attribute not in owner.plain | owner.submodules:
                        owner.doubt(node, f"`forward` reads `self.{attribute}`, which `__init__` does not plainly set")
                elif node.attr in {"shape", "ndim", "T", "mT"}:
                    self.expression(node.value)
                else:
                    what = "is fixed at export" if node.attr in {"dtype", "device"} else "was not checked"
                    owner.doubt(node, f"`forward` reads `.{node.attr}`, which {what}")
            case ast.BinOp():
                self.expression(node.left)
                self.expression(node.right)
                if (
                    self._is_input(node.left)
                    and self._is_input(node.right)
                    and ast.dump(node.left) != ast.dump(node.right)
                ):
                    owner.doubt(node, "`forward` combines two inputs, whose sizes export ties together")
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                self.expression(node.operand)
            case ast.Tuple() | ast.List():
                for element in node.elts:
                    self.expression(element)
            case ast.Subscript():
                self.expression(node.value)
                self._index(node.slice)
            case ast.Starred():
                self.expression(node.value)
            case ast.keyword():
                self.expression(node.value)
            case ast.IfExp(test=test) if self._is_fixed(test):
                self.expression(node.body)
                self.expression(node.orelse)
            case _:
                owner.doubt(node, "`forward` holds an expression that was not read")

    def _is_input(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.inputs

    def _index(self, node: ast.expr) -> None:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if isinstance(parts[0], ast.Slice) and (parts[0].lower or parts[0].upper or parts[0].step):
            self.owner.doubt(node, "`forward` cuts the first dimension, whose size export ties to the cut")
        for part in parts:
            bounds = [part.lower, part.upper, part.step] if isinstance(part, ast.Slice) else [part]
            for bound in bounds:
                if bound is None or isinstance(bound, ast.Constant):
                    continue
                if isinstance(bound, ast.UnaryOp) and isinstance(bound.operand, ast.Constant):
                    continue
                self.owner.doubt(bound, "`forward` indexes with a computed value")

    def _reshape(self, node: ast.Call, sizes: list[ast.expr]) -> None:
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = sizes[0].elts
        if not sizes or not (self._is_shape(sizes[0]) or isinstance(sizes[0], ast.UnaryOp)):
            self.owner.doubt(node, "`forward` reshapes to sizes that were not read")
        elif isinstance(sizes[0], ast.Constant):
            self.owner.doubt(node, "`forward` reshapes with a fixed first dimension")

    def _call(self, node: ast.Call) -> None:
        owner = self.owner
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.expression(argument)
        function = node.func
        attribute = _self_attribute(function)
        inplace = any(k.arg == "inplace" and not _is_false(k.value) for k in node.keywords)
        if (inplace or attribute in owner.changing) and not (node.args and self._is_fresh(node.args[0])):
            owner.doubt(node, "`forward` changes a tensor in place that others may see")
        if any(keyword.arg in {"out", None} for keyword in node.keywords):
            owner.doubt(node, "`forward` passes arguments that were not read")
        if attribute is not None:
            if attribute in owner.submodules:
                return
            method = owner.methods.get(attribute)
            if method is not None:
                owner._read_method(method)
                return
            owner.doubt(node, f"`forward` calls `self.{attribute}`, which was not read")
            return
        if isinstance(function, ast.Name) and function.id in self.modules:
            return
        if (
            isinstance(function, ast.Subscript)
            and (container := _self_attribute(function.value)) is not None
            and container in owner.submodules
        ):
            self._index(function.slice)
            return
        resolution = self.view.resolve(function)
        if resolution is not None and resolution.certain and resolution.name.startswith("torch."):
            if resolution.name == "torch.reshape":
                self._reshape(node, node.args[1:])
            if resolution.name not in PURE_FUNCTIONS:
                owner.doubt(node, f"`forward` calls `{resolution.name}`, which is not among the functions checked")
            return
        if isinstance(function, ast.Attribute) and function.attr in PURE_METHODS and resolution is None:
            self.expression(function.value)
            if function.attr == "contiguous" and self._is_input(function.value):
                owner.doubt(node, "`forward` calls `contiguous()` on its input, which export leaves out")
            if function.attr in {"view", "reshape"}:
                self._reshape(node, node.args)
            return
        name = self.view.text(function) if function.end_lineno == function.lineno else "something"
        owner.doubt(node, f"`forward` calls `{name}`, which was not read")


def _self_attribute(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _is_plain_value(node: ast.expr | None) -> bool:
    """A constant, or a tuple, list or negation of constants."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_is_plain_value(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        return _is_plain_value(node.operand)
    return isinstance(node, ast.Constant)


def _is_arithmetic(node: ast.expr) -> bool:
    return all(
        isinstance(child, (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.operator, ast.unaryop, ast.expr_context))
        or _self_attribute(child) is not None  # type: ignore[arg-type]
        for child in ast.walk(node)
    )
