"""Calls of what is not in the file, or not known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from torchlift.rules.analysis.values.environment_reads import ENVIRONMENT, GETTERS
from torchlift.rules.analysis.wording.messages import shortened
from torchlift.rules.distributed.facts.launchers import RANKS, WORLD_SIZES
from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.communication import (
    COLLECTIVES,
    WORTH_READING,
    distributed_name,
    likely_communicates,
    may_be_group,
)
from torchlift.rules.distributed.p2p.interpreter.keys import condition_key, node_text, speaks_of_rank
from torchlift.rules.distributed.p2p.interpreter.operators import Once, Unworkable, call_function, elements
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState
from torchlift.rules.distributed.p2p.interpreter.values import (
    MISSING,
    BoundMethod,
    Class,
    Ended,
    External,
    Frame,
    Function,
    Handle,
    Instance,
    Level,
    Open,
    Unknown,
    Value,
    holds_handle,
    level_of,
    parts,
    unknown_in,
)

_TRUE = frozenset(
    {
        "torch.cuda.is_available",
        "torch.distributed.is_available",
        "torch.distributed.is_initialized",
        "torch.distributed.is_nccl_available",
    }
)
_UNIFORM = (
    "torch.__version__",
    "torch.version.",
    "torch.backends.",
    "torch.cuda.device_count",
    "torch.cuda.nccl.version",
    "argparse.",
    ENVIRONMENT,
    *GETTERS,
    "sys.argv",
    "sys.platform",
    "sys.version",
    "platform.",
    "packaging.version.",
)
_ENDING = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
_SYNCHRONIZING = frozenset({"torch.cuda.synchronize", "torch.accelerator.synchronize"})
_HARMLESS = ("logging.", "warnings.", "builtins.print", "builtins.repr", "builtins.id", "builtins.type", "time.")
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print"})
_REACHING = frozenset(
    f"builtins.{name}" for name in ("exec", "eval", "globals", "__import__", "object.__setattr__", "object.__delattr__")
)
"""What may change anything."""
_KEEPING = frozenset({"append", "extend", "add", "insert", "appendleft", "setdefault"})
"""Methods that most likely only keep what they are given."""
_THREADS = ("threading.", "concurrent.", "asyncio.")
_PROCESSES = ("torch.multiprocessing.", "multiprocessing.")


class UnknownCalls(RankState):
    """Calls of what is not in the file, or not known."""

    def _call_unknown_method(
        self,
        function: Unknown,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame | None,
    ) -> Value:
        """A call of an attribute of an unknown value."""
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        base = function.source
        if base is not None and name in {"rank", "size"} and not positional and not keywords and may_be_group(base):
            query = "get_rank" if name == "rank" else "get_world_size"
            return self.communication.query(query, {"group": base}, node.lineno)
        if name in _LOGGING and "log" in node_text(node.func.value).lower():
            return None
        if name == "wait" and (not function.handles or self.layout is not None):
            return Unknown(Level.GIVEN, function.key, function.why)
        if name == "wait":
            self._open(node.lineno, f"what line {node.lineno} waits for is not known: {function.why}")
        return self._opaque(function, positional, keywords, node)

    def _communicates(self, value: Value) -> bool:
        """Whether a function, class or object may post or wait when it is used."""
        if isinstance(value, External):
            name = distributed_name(value.name)
            return name is not None and (value.name in WORTH_READING or name in COLLECTIVES)
        if isinstance(value, BoundMethod) and isinstance(value.function, Function):
            return self._communicates(value.function)
        if isinstance(value, Function):
            view = value.frame.view
            if isinstance(value.node, ast.Lambda):
                return self.code.matters([value.node.body]) if view is self.code.view else True
            return self.code.of(view, self.project).may_communicate(value.node)
        if isinstance(value, Unknown):
            return any(self._communicates(part) for part in value.candidates)
        if isinstance(value, (Class, Instance)):
            owner = value if isinstance(value, Class) else value.of
            if owner is None or owner.frame.view is not self.code.view:
                return False
            return any(
                self.code.may_communicate(statement)
                for base in self.code.bases(owner.node)
                for statement in base.body
                if isinstance(statement, FunctionNode)
            )
        return False

    def _opaque(self, function: Value, positional: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """The result of a call that is not followed.

        Raises:
            CommonChoice, Open: the call may post or wait for something.
        """
        line = getattr(node, "lineno", 0)
        text = node_text(node.func) if isinstance(node, ast.Call) else "a property"
        name = function.name if isinstance(function, External) else ""
        known = name.startswith(("torch.", "builtins.", "math.", "itertools.", *_HARMLESS))
        values = [*positional, *keywords.values()]
        if not name.startswith(_HARMLESS):
            last = text.rpartition(".")[2]
            if not known and (likely_communicates(last) or self._communicates(function)):
                self._open(line, f"`{text}` in line {line} may communicate")
            for value in values:
                if name.startswith(_PROCESSES):
                    continue
                if self._hands_over(value, last):
                    self._open(line, f"`{text}` in line {line} is given a handle and may wait for it")
                if any(self._communicates(part) for part in parts(value)):
                    self._open(line, f"`{text}` in line {line} is given something that communicates")
        if not known:
            self._escape([*values, function])
        return self._result(function, values, node)

    def _hands_over(self, value: Value, name: str) -> bool:
        """Whether a function of this name that is given `value` may wait for an operation."""
        if self.layout is None:
            return holds_handle(value)
        return name not in _KEEPING and any(isinstance(part, Handle) and not part.waited for part in parts(value))

    def _result(self, function: Value, values: Sequence[Value], node: ast.AST) -> Unknown:
        text = node_text(node) if isinstance(node, ast.expr) else "a call"
        name = function.name if isinstance(function, External) else ""
        base = function if isinstance(function, Unknown) else None
        arguments = node.args if isinstance(node, ast.Call) else []
        keywords = node.keywords if isinstance(node, ast.Call) else []
        constants = all(isinstance(n, ast.Constant) for n in (*arguments, *(k.value for k in keywords)))
        uniform = name.startswith(_UNIFORM) or (base is not None and base.level is Level.UNIFORM)
        if uniform:
            level = max(Level.UNIFORM, level_of(values, constants))
        else:
            level = max(Level.GIVEN, level_of(values), base.level if base is not None else Level.GIVEN)
        if speaks_of_rank(text.rpartition("(")[0]) and level is Level.UNIFORM and self.layout is None:
            level = Level.RANK
        why = base.why if base is not None and base.level >= level else f"`{shortened(text)}` is not known"
        first = unknown_in(list(values))
        if first is not None and first.level is level and base is None:
            why = first.why
        return Unknown(
            level,
            condition_key(node, (function, *values)) if not uniform or not constants else node_text(node),
            why,
            never_none=name.startswith("torch.") and distributed_name(name) is None,
            handles=base is not None and base.handles,
            source=base.source if base is not None else None,
        )

    def _call_external(
        self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call, *, complete: bool
    ) -> Value:
        short = distributed_name(name)
        if short is not None:
            return self._call_distributed(short, positional, keywords, node, complete=complete)
        if name in _TRUE:
            return True
        if name in GETTERS and positional:
            return self._environment(
                positional[0], positional[1] if len(positional) > 1 else keywords.get("default"), node
            )
        if name == "logging.getLogger":
            return External("logging.Logger")
        if name in _ENDING:
            raise Ended
        if name in _SYNCHRONIZING:
            if any(not handle.waited for handle in self.communication.handles):
                self._certain(node.lineno)
                self.communication.synchronize(node.lineno)
            return None
        if name.startswith(_THREADS) and any(self._communicates(p) for v in (positional, keywords) for p in parts(v)):
            raise Open(f"line {node.lineno} communicates in a thread of its own")
        if name in _REACHING:
            self._escape_all()
            self._escape(positional)
        elif name.startswith(("builtins.", "functools.", "itertools.")):
            for value in (*positional, *keywords.values()):
                if isinstance(value, (Function, BoundMethod)) and not self._communicates(value):
                    self._escape(value)
        if complete:
            special = self._special_builtin(name, positional, keywords, node)
            if special is not MISSING:
                return special
            try:
                return call_function(name, positional, keywords)
            except (KeyError, Unworkable):
                pass
        if name.startswith("builtins.") and name[9:] in _PASSING_ON:
            return self._computed(
                (*positional, *keywords.values()), (*node.args, *(k.value for k in node.keywords)), node
            )
        return self._opaque(External(name), positional, keywords, node)

    def _special_builtin(self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """Builtin functions that call others, or look at kinds of values that only exist here."""
        match name, positional:
            case "builtins.range", _ if any(isinstance(self._as_rank(value), int) for value in positional):
                numbers = [self._as_rank(value) for value in positional]
                return range(*numbers) if all(type(number) is int for number in numbers) else MISSING
            case "builtins.map", [function, values]:
                try:
                    items = elements(values)
                except Unworkable:
                    return MISSING
                if isinstance(function, External) and not function.name.startswith("builtins."):
                    return MISSING
                return Once(self._apply(function, [item], {}, node, self._stack[-1], complete=True) for item in items)
            case "builtins.getattr", [base, str(attribute), *_]:
                shape = ast.copy_location(ast.Attribute(node.args[0], attribute, ast.Load()), node)
                return self._attribute_of(base, attribute, shape) if isinstance(base, (Instance, External)) else MISSING
            case "builtins.isinstance", [value, External(name=kind)] if kind[9:] in _KINDS:
                if isinstance(value, Unknown):
                    return MISSING
                return isinstance(value, _KINDS[kind[9:]]) and not isinstance(value, Once)
            case "builtins.setattr", [base, attribute, value] if isinstance(attribute, str):
                self._store_attribute(base, attribute, value)
                return None
            case "builtins.setattr" | "builtins.delattr" | "builtins.vars", [base, *_]:
                self._escape(base)
                return MISSING
            case "builtins.bool", [value]:
                known = self._truth(self._as_test(value, node))
                return MISSING if known is None else known
            case "builtins.len", [Instance() as value]:
                return self._own(value, "__len__", [], node)
            case _, _ if name.startswith("builtins.") and name != "builtins.isinstance" and self._may_equal(positional):
                return self._computed(positional, node.args, node)
            case "builtins.next", [Once() as value, *_] if not self._change(value):
                return self._computed(positional, node.args, node)
            case "builtins.print", _:
                return None
            case "builtins.super", []:
                return MISSING
        return MISSING

    def _environment(self, key: Value, default: Value, node: ast.expr) -> Value:
        if not isinstance(key, str):
            return Unknown(Level.RANK, condition_key(node, ()), f"`{node_text(node)}` is not known")
        if key in RANKS:
            return str(self.rank)
        if key in WORLD_SIZES:
            return str(self.size)
        if self.layout is not None:
            meant = self._strong(key.lower(), f"os.environ[{key!r}]")
            if isinstance(meant, int):
                return str(meant)
        level = Level.RANK if speaks_of_rank(key.lower()) or key.endswith("ID") else Level.UNIFORM
        return Unknown(level, f"os.environ[{key!r}]", f"the environment variable `{key}` is not known")


_KINDS: dict[str, Any] = {
    "int": int, "bool": bool, "str": str, "float": float, "list": list, "tuple": tuple, "dict": dict, "set": set, "range": range,
}  # fmt: skip


# Builtin functions that only compute something from their arguments.
_PASSING_ON = frozenset(
    """abs all any bool bytes complex dict divmod enumerate filter float format frozenset getattr hasattr hash hex id int
    isinstance issubclass iter len list max min next object ord chr oct pow range repr reversed round set slice sorted str sum
    tuple type zip callable""".split()
)
