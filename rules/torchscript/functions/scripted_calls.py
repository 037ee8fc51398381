"""What a call in a function gives, as the TorchScript compiler would type it, where Python gives the same."""

from __future__ import annotations

import ast
import re
from abc import abstractmethod

from torchlift.project import Project
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.rules.analysis.values.literals import is_false
from torchlift.rules.analysis.values.number_ranges import applied
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.type_comments import comment_types
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.torchscript.facts.scripted_operations import (
    BOOLS,
    FLOATING,
    FUNCTIONS,
    MATH_FUNCTIONS,
    METHODS,
    NUMBERS_ONLY,
    PAIRS,
    PAIRS_WITH_DIMENSION,
    REDUCTIONS,
    SEQUENCES,
    SIZES,
    SWITCHES,
)
from torchlift.rules.torchscript.facts.value_kinds import NUMBERS, TENSORS, is_dtype, parameter_kind
from torchlift.rules.torchscript.functions.known_differences import leaves
from torchlift.rules.torchscript.functions.scripted_expressions import (
    Differs,
    ExpressionReader,
    FunctionFacts,
    NotRead,
)
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_MOST_CALLS = 4  # one in another; functions that call themselves end here, too
_ARITHMETIC = frozenset({"add", "sub", "mul"})
_LOOKUPS = frozenset({"embedding", "embedding_bag"})  # run on torch 2.13.0, 2026-11-27
_QUESTIONS = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing"})
# Other results in half precision, other gradients.
_DIFFERENT = frozenset({"addmm", "std", "type_as"})
_MAY_RAISE = frozenset(
    f"math.{name}"
    for name in "pow acos asin acosh atanh sin cos tan sinh cosh gamma lgamma log2 log10 log1p expm1 fmod ldexp factorial".split()
)
# A list in TorchScript, a tuple in Python, and read no further.
_SPLITS = frozenset("split split_with_sizes tensor_split hsplit vsplit dsplit meshgrid broadcast_tensors".split())
# Functions that do the same with an int as with a float of the same value.
_SAME_FOR_INTS = frozenset(
    "dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout int float bool range".split()
)
_DEFAULTS = ("set_default_dtype", "set_default_tensor_type", "set_default_device")
_FACTORIES = frozenset({"zeros", "ones", "full", "arange", "eye", "linspace", "logspace", "tensor", "empty"})


def _has_limit(call: ast.Call) -> bool:
    """Whether a look-up in a table of rows gets `max_norm`."""
    given = [*call.args[3:4], *(keyword.value for keyword in call.keywords if keyword.arg == "max_norm")]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in given)


class CallReader(ExpressionReader):
    """Reads the expressions of one function, calls included."""

    @abstractmethod
    def called_function(self, home: ModuleView, definition: ast.FunctionDef) -> FunctionFacts:
        """Facts about another function of the project, which this one calls."""

    def call(self, node: ast.Call) -> str:
        """Kind of what a call gives."""
        if self.known_only and self.sources:
            self._take_numbers(node)
        name = self.view.certain_name(node.func)
        resolution = self.view.resolve(node.func)
        if isinstance(node.func, ast.Name) and resolution is None and node.func.id not in self.kinds:
            return self._builtin(node, node.func.id)
        if name in MATH_FUNCTIONS or name in _MAY_RAISE:
            return self._mathematics(node, name)
        if name.startswith("torch."):
            last = name.rpartition(".")[2]
            known = name in FUNCTIONS or name in {f"torch.{other}" for other in SEQUENCES | PAIRS}
            if name in _QUESTIONS:
                raise NotRead(f"the function asks `{last}()`, which has another answer in Python")
            if last in _LOOKUPS and _has_limit(node):
                raise Differs(
                    f"`{self.text(node)}` shortens rows longer than `max_norm` in Python, and in TorchScript it does not"
                )
            if self.known_only and (last in _SPLITS or (last == "where" and len(node.args) == 1)):
                self.parts(node)
                self.lists.append(node)
                return "tensors"
            if last in _FACTORIES:
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                fixed = not any(map(_names, values))
                reason = (
                    f"`{name}` may be computed once in TorchScript, when the function is compiled"
                    if fixed
                    else f"`{name}` was not compared with what TorchScript makes of it"
                )
                since = self._computed_once(node) if self.known_only else None
                raise Differs(f"{reason}{since}") if since is not None else NotRead(reason)
            if not known:
                reason = f"`{name}` is not among the functions found to do the same in TorchScript"
                raise Differs(reason) if last in _DIFFERENT else NotRead(reason)
            if not node.args or self.kind(node.args[0]) not in TENSORS | {"tuple", "tensors", "str", "unknown"}:
                raise NotRead(f"the first argument of `{name}` is no tensor")
            if self.kind(node.args[0]) == "str" and name != "torch.einsum":
                raise NotRead(f"the first argument of `{name}` is no tensor")
            return self._operation(node, last, node.args[1:])
        if resolution is not None:
            return self._project_function(node)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        raise NotRead(f"`{self.text(node.func)}` was not compared with what TorchScript makes of it")

    def _mathematics(self, node: ast.Call, name: str) -> str:
        """The result of a function of `math` that is no value for every number."""
        if name in _MAY_RAISE and any(self.range(argument) is None for argument in node.args):
            self.parts(node)
            raise Differs(
                f"`{self.text(node)}` may have no value in Python, or a larger one, where a scripted function goes on"
            )
        read = name in MATH_FUNCTIONS and len(node.args) == 1 and not node.keywords
        if read and self.kind(node.args[0]) in NUMBERS | {"unknown"}:
            if not isinstance(node.args[0], (ast.Constant, ast.BinOp)) or _names(node.args[0]):
                self.size(node)
            argument = self.range(node.args[0])
            if argument is None or applied(name, argument) is None:
                raise Differs(
                    f"`{self.text(node)}` may have no value in Python (for zero, a negative or a large number) where a "
                    "scripted function goes on"
                )
            return MATH_FUNCTIONS[name]
        raise NotRead(f"`{self.text(node)}` was not compared with what TorchScript makes of it")

    def _take_numbers(self, node: ast.Call) -> None:
        """Note numbers that a call gets where it may make a difference whether they are ints."""
        name = self.view.certain_name(node.func)
        last = name.rpartition(".")[2] or last_name(node.func)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        numbers = [value for value in values if self.sources_of(value) and self.kind(value) not in TENSORS]
        if not numbers or last in FLOATING or last.endswith("_") or last in _SAME_FOR_INTS:
            return
        if name.startswith("torch.") and any(keyword.arg == "dtype" for keyword in node.keywords):
            return
        if isinstance(node.func, ast.Attribute) and not name and self.kind(node.func.value) == "floating":
            return
        if name and node.args and self.kind(node.args[0]) == "floating":
            return
        if self.view.resolve(node.func) is None or name.startswith("torch."):
            self.reached(node, *numbers)
            return
        found = definition_of(self.view, node.func, self.project, ast.FunctionDef)
        if found is None or self.depth >= _MOST_CALLS:
            self.reached(node, *numbers)
            return
        inner = self.called_function(*found)
        arguments = [*found[1].args.posonlyargs, *found[1].args.args]
        given = named_arguments(node, [argument.arg for argument in arguments])
        comments = comment_types(found[0], found[1]) or {}
        floats = {a.arg for a in arguments if parameter_kind(found[0], a.annotation, comments.get(a.arg)) == "float"}
        for parameter, value in (given or {}).items():
            if parameter in inner.numbers or parameter not in floats:
                self.reached(node, value)
        if given is None:
            self.reached(node, *numbers)

    def _method(self, node: ast.Call, function: ast.Attribute) -> str:
        if self.me is not None and isinstance(function.value, ast.Name) and function.value.id == self.me:
            if self.own.get(function.attr) != "module" or node.keywords:
                raise NotRead(
                    f"`{self.text(function)}` is called, and what it does to the types of its arguments was not followed"
                )
            kinds = {self.kind(argument) for argument in node.args}
            if not kinds <= TENSORS | {"unknown"}:
                raise NotRead(f"`{self.text(function)}` is called with something that is no tensor")
            return "tensor"
        base, name = self.kind(function.value), function.attr
        if base == "unknown":
            return base
        if base in TENSORS:
            if self.known_only and name in _SPLITS:
                self.parts(node)
                self.lists.append(node)
                return "tensors"
            if name in SIZES:
                if any(self.kind(argument) != "int" for argument in node.args) or node.keywords:
                    raise NotRead(f"`{self.text(node)}` was not compared with what TorchScript makes of it")
                return "shape" if name in {"size", "stride"} and not node.args else "int"
            if name in BOOLS and not node.args and not node.keywords:
                return "bool"
            if name.endswith("_"):
                self.in_place(node)
                if node is not self.whole:
                    raise NotRead(f"`{self.text(node)}` changes a tensor in the middle of an expression")
            if name in METHODS or name in SEQUENCES | PAIRS:
                return self._operation(node, name, node.args)
        reason = f"the method `.{name}()` is not among those found to do the same in TorchScript"
        raise Differs(reason) if base in TENSORS and name in _DIFFERENT else NotRead(reason)

    def _operation(self, node: ast.Call, name: str, values: list[ast.expr]) -> str:
        """The result of a known function or method, `values` being its arguments behind the tensor."""
        kinds = [self.kind(value) for value in values]
        scaled = any(keyword.arg == "alpha" for keyword in node.keywords)  # such a sum is never left out
        if name in _ARITHMETIC and not scaled and values and kinds[0] == "int" and self.is_constant(values[0]):
            number = values[0]
            neutral = 1 if name == "mul" else 0
            if not (isinstance(number, ast.Constant) and number.value != neutral):
                raise Differs(f"`{self.text(node)}` may be left out in TorchScript, and then bools stay bools")
        dimension = False
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in {"out", "pin_memory", "generator", "layout", "memory_format"}:
                raise NotRead(f"`{name}` gets arguments that were not read")
            if keyword.arg == "inplace" and not is_false(keyword.value):
                self.in_place(node)
                if node is not self.whole:
                    raise NotRead(f"`{self.text(node)}` changes a tensor in the middle of an expression")
            kind = self.kind(keyword.value)
            kinds += [kind] if keyword.arg in {"min", "max", "other", "exponent"} else []
            dimension |= keyword.arg == "dim"
            if kind == "bool" and keyword.arg not in SWITCHES:
                raise NotRead(f"`{name}` gets `{keyword.arg}`, which was not read")
        if name in NUMBERS_ONLY and not TENSORS.isdisjoint(kinds):
            if not set(kinds) <= TENSORS | {"none"}:
                raise NotRead(f"`{name}` gets numbers and tensors")  # of which both make numbers
            about = "may have other gradients in TorchScript: for its bounds, or where both are equal"
            raise Differs(f"`{name}` between tensors {about}")
        if "bool" in kinds and (name not in REDUCTIONS or (name == "dropout" and len(kinds) > 2)):
            raise NotRead(f"`{name}` gets a condition, which was not read")
        if "str" in kinds and name != "einsum":
            raise NotRead(f"`{name}` gets a text")
        if name in SEQUENCES:
            self.lists.append(node)
            return "tensors"
        if name in PAIRS_WITH_DIMENSION:
            return "pair" if dimension or (kinds and kinds[0] == "int") else "tensor"
        if name in PAIRS:
            return "pair"
        return "floating" if name in FLOATING else "tensor"

    def _builtin(self, node: ast.Call, name: str) -> str:
        kinds = [self.kind(argument) for argument in node.args]
        if node.keywords or not kinds or self.view.scopes.stars:
            raise NotRead(f"`{self.text(node)}` was not compared with what TorchScript makes of it")
        if "unknown" in kinds:
            return "unknown"
        if name == "len" and kinds[0] in TENSORS | {"shape"}:
            self.size(node)
            return "int"
        if name in {"int", "float", "bool"} and len(kinds) == 1 and kinds[0] in TENSORS | NUMBERS:
            if kinds[0] in TENSORS:
                self.branch(node)
            if name == "int" and kinds[0] != "int" and ((bounds := self.range(node)) is None or not bounds.fits()):
                raise NotRead(f"`{self.text(node)}` may not fit into 64 bits, to which TorchScript cuts it")
            return name
        if name == "abs" and len(kinds) == 1 and kinds[0] in TENSORS | NUMBERS:
            return kinds[0]
        if name in {"min", "max"} and len(kinds) == 2 and set(kinds) == {"int"}:
            self.size(node)
            return "int"
        reason = f"`{self.text(node)}` was not found to do the same in TorchScript"
        raise Differs(reason) if name == "round" else NotRead(reason)

    def _computed_once(self, node: ast.Call) -> str | None:
        """Since when a factory hands out the same tensor at every call of the scripted function; None where that shows nowhere.

        It does where all it is given are constants (a dtype that a tensor has is none) and nothing changes it in the function
        (run on torch 2.13.0, 2026-11-27). That shows where the tensor leaves the function, or where the project sets another
        default for new tensors.
        """
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not all(map(self._is_fixed, values)):
            return None
        if leaves(self.view, node, self.node):
            return ""
        if {"dtype", "device"} <= {keyword.arg for keyword in node.keywords}:
            return None
        files = (path for word in _DEFAULTS for path in self.project.files_holding(word))
        here = (path for path in files if in_one_program(self.project, self.view.path, path))
        return next((f", and {path} may set a default for new tensors" for path in here), None)

    def _is_fixed(self, value: ast.expr) -> bool:
        """Whether a value is written with nothing but constants, a dtype or a device among them."""
        if isinstance(value, (ast.List, ast.Tuple)):
            return all(map(self._is_fixed, value.elts))
        if isinstance(value, ast.Call):
            return self.view.certain_name(value.func) == "torch.device" and all(map(self._is_fixed, value.args))
        if isinstance(value, ast.Name):
            binding = self.view.definition(value)
            return binding is not None and binding.kind == "assign" and isinstance(binding.value, ast.Constant)
        number = value.operand if isinstance(value, ast.UnaryOp) else value
        return isinstance(number, ast.Constant) or is_dtype(self.view.certain_name(value))

    def _project_function(self, node: ast.Call) -> str:
        """The result of a function of the project, which scripting compiled together with its caller."""
        function = node.func
        shown = self.text(function)
        found = definition_of(self.view, function, self.project, ast.FunctionDef)
        if found is None:
            raise NotRead(f"what `{shown}` does was not followed")
        home, definition = found
        if any(home.possible_name(decorator) != "torch.jit.script" for decorator in definition.decorator_list):
            parts = (item.func if isinstance(item, ast.Call) else item for item in definition.decorator_list)
            names = {home.possible_name(part) for part in parts}
            # An operator of `torch.library` is an object that scripted code calls as it is (run on torch 2.13.0, 2026-11-27).
            alike = all(name.startswith("torch.") and ("jit" in name or ".library." in name) for name in names)
            reason = f"`{shown}` is decorated"
            raise NotRead(reason) if alike else Differs(f"{reason}, and scripting may have left the decorators out")
        if self.depth >= _MOST_CALLS or (
            not self.known_only and (node.keywords or any(self.kind(a) not in TENSORS for a in node.args))
        ):
            raise NotRead(f"what `{shown}` does with arguments like these was not followed")
        if (patched := self.project.once(_patched, definition.name)) is not None:
            raise Differs(f"`{shown}` may be replaced at {patched}, which a compiled function does not notice")
        if self.known_only:
            self.parts(node)
        facts = self.called_function(home, definition)
        for doubt in facts.doubts:
            if doubt not in self.facts.doubts:
                self.facts.doubts.append(doubt)
        self.facts.fails += [clause for clause in facts.fails if clause not in self.facts.fails]
        self.facts.raises = self.facts.raises or facts.raises
        if facts.branches is not None:
            self.branch(node)
        if facts.shapes is not None:
            self.size(node)
        return facts.result or "unknown"


def _patched(project: Project, name: str) -> str | None:
    """The first file that may put something else in the place of a function: a patch by name, or an assignment."""
    word = re.escape(name.encode())
    quoted = rb"[\"'](?:[\w.]*\.)?" + word + rb"[\"']"
    pattern = re.compile(
        rb"(?:setattr|patch)[\w.]*\s*\([^=]{0,200}?" + quoted + rb"|\[\s*" + quoted + rb"\s*\]\s*=[^=]"
        rb"|(?<!\bself)(?<!\bcls)\." + word + rb"\s*=[^=]"
    )
    return next((path for path in project.files_holding(name) if pattern.search(project.data(path))), None)


def _names(node: ast.expr) -> bool:
    return any(isinstance(child, ast.Name) and child.id != "math" for child in walk(node))
