"""The module itself in the place of its capture, where the user says that TorchScript goes or recorded runs prove it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import field

from torchlift.finding import (
    DeleteStatement,
    Fix,
    InsertStatements,
    ReplaceExpression,
    Rewrite,
    Safety,
    Template,
)
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.order import excludes
from torchlift.rules.analysis.places.purpose import enclosing_test
from torchlift.rules.analysis.project.torchscript_elsewhere import cpp_runtime
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.analysis.wording.messages import one_line, sentence
from torchlift.rules.rule import Context
from torchlift.rules.torchscript.captures.fed_statements import fed_only, first_seed
from torchlift.rules.torchscript.captures.module_call import ModuleVerdict
from torchlift.rules.torchscript.captures.scripting_option import idle_options, without_capture
from torchlift.rules.torchscript.compilers.compiled_context import autocast_doubt
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.functions.function_uses import call_doubt
from torchlift.rules.torchscript.functions.scripting_differences import scripting_differences
from torchlift.rules.torchscript.modules.captured_module import CapturedModule, read_captured_module
from torchlift.rules.torchscript.modules.scripted_module import ScriptedModule, read_scripted_module
from torchlift.rules.torchscript.modules.submodule_walks import parts_of
from torchlift.rules.torchscript.modules.tracing_differences import frozen_parts, tracing_differences
from torchlift.rules.torchscript.proofs.recorded_capture import (
    Asks,
    Assumption,
    Recorded,
    clauses,
    recorded_eager,
    safety_of,
)
from torchlift.rules.torchscript.values.gradient_mode import without_gradient
from torchlift.rules.torchscript.values.kept_entry import plain_entry
from torchlift.rules.torchscript.values.measured_beside import measured_beside, measured_by_choice
from torchlift.rules.torchscript.values.plain_follower import follow_plain
from torchlift.rules.torchscript.values.plain_uses import plain_uses
from torchlift.rules.torchscript.values.script_readers import unit_reader
from torchlift.rules.torchscript.values.stale_comments import stale_above, without_stale_comments
from torchlift.rules.torchscript.values.stale_names import without_second_name
from torchlift.rules.torchscript.values.value_life import ValueLife
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_MODES = frozenset({"train", "eval", "to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_"})
_COMPILE = TorchVersion(2, 2)  # Module.compile
_DRAWS_NOTHING = frozenset(
    f"torch.{name}" for name in "zeros ones full arange linspace eye tensor zeros_like ones_like full_like".split()
)


@dataclass
class _Swap:
    """One capture that its module replaces, while it is being put together.

    Attributes:
        use, context: the use and its file.
        call: the capture.
        node: the expression of what is captured.
        traced: whether it is traced, and not scripted.
        life: what becomes of the value.
        module: what is known of the module.
        recorded: what recorded runs say about the module itself.
        doubts: any of them makes the fix one for review, unless recorded runs settle it.
    """

    use: Use
    context: Context
    call: ast.Call
    node: ast.expr
    traced: bool
    life: ValueLife
    module: ScriptedModule
    recorded: Recorded | None = None
    doubts: list[Assumption] = field(default_factory=list)

    @property
    def view(self) -> ModuleView:
        """The file."""
        return self.context.view

    def doubt(self, *clauses: str, asks: Asks = "project") -> None:
        """Take clauses for doubts."""
        self.doubts += [Assumption(clause, asks) for clause in clauses]


def plain_module(use: Use, context: Context, node: ast.expr, *, traced: bool) -> ModuleVerdict | None:
    """What to say where `node` can take the place of its capture; None if something needs the capture itself.

    That is a file that it is written to, what only a TorchScript value has, or a test of it. Where recorded runs show
    another result without TorchScript, that is one doubt more.
    """
    view, call = context.view, use.call
    assert call is not None
    if isinstance(node, ast.Starred) or enclosing_test(view, call) is not None:
        return None
    life = follow_plain(view, _cast(view, call), context.project)
    module = read_scripted_module(view, node, context.project)
    parts = parts_of(*module.owner, context.project) if module.owner is not None else None
    uses = list(plain_uses(life, context.project, parts))
    if life.saves or any(found.kind == "script_only" for found in uses):
        return None
    swap = _Swap(use, context, call, node, traced, life, module, recorded_eager(use, context))
    if swap.recorded is not None and swap.recorded.refuted:
        swap.doubt(swap.recorded.refuted)
    elif swap.recorded is not None and swap.recorded.proved and not drops(context):
        swap.doubts += swap.recorded.left_of(())
    if life.form == "discarded":
        place, here = unit_reader(view, context.project)
        swap.doubt(*([f"{place} looks through everything that was scripted, and would not find it"] if place else []))
        return None if here else _thrown_away(swap)
    swap.doubt(*filter(None, (measured_by_choice(view, call),)))
    other = without_capture(view, life, node)
    if other is None or not other.optional:
        swap.doubt(*(f"the value {found.clause}" for found in uses), asks="run")
        swap.doubts += _differences(swap)
        swap.doubt(*_aliases(swap))
        swap.doubt(*_frozen(swap))
    return _verdict(swap, other.rewrites if other is not None else None)


def _cast(view: ModuleView, call: ast.Call) -> ast.Call:
    """The call, or the `typing.cast` around it, which gives the same value."""
    parent = view.parent(call)
    given = isinstance(parent, ast.Call) and len(parent.args) == 2 and parent.args[1] is call
    return parent if isinstance(parent, ast.Call) and given and _is_cast(view, parent) else call


def _is_cast(view: ModuleView, call: ast.Call) -> bool:
    return view.possible_name(call.func) == "typing.cast"


# Doubts


def _differences(swap: _Swap) -> Iterator[Assumption]:
    """What the captured module did otherwise than the plain one."""
    view, project = swap.view, swap.context.project
    life = swap.life
    known = life.form in {"bound", "called"} and not life.obstacles
    around = [(life.home(call), call) for call in life.calls] if known else None
    if (autocast := autocast_doubt(project, view, around)) is not None:
        yield Assumption(autocast)
    if (runtime := cpp_runtime(project)) is not None:
        given = f"{runtime} runs TorchScript modules in C++, and may be given this one, which is none any more"
        yield Assumption(given, "project")
    calls = [(swap.life.home(call), call) for call in swap.life.calls]
    statement = swap.life.statement
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        beside = plain_entry(view, statement.targets[0], swap.node)
        if beside is not None:
            entry = one_line(view, statement.targets[0])
            same = f"`{entry}` stands beside the plain one of line {beside.lineno}, and both are the same then"
            yield Assumption(same, "project")
    if (measured := measured_beside(view, swap.call, swap.node)) is not None:
        yield Assumption(measured, "project")
    for home, call in calls:
        if (doubt := call_doubt(home, call, drops=True)) is not None:
            yield Assumption(f"line {call.lineno} calls it {doubt}", "project")
    if swap.traced:
        yield from _differences_of_traced(swap)
    elif swap.module.owner is not None:
        found = scripting_differences(*swap.module.owner, project, [call for _, call in calls])
        yield from map(Assumption, found)
    elif not _is_torch_layer(view, swap.node):
        unseen = (
            f"the code of `{swap.module.text}` was not found, so it was not searched for what scripting does otherwise"
        )
        yield Assumption(unseen)


def _differences_of_traced(swap: _Swap) -> Iterator[Assumption]:
    """What a trace kept of its example, no run can settle: another input takes another way."""
    view, project = swap.view, swap.context.project
    function = definition_of(view, swap.node, project, ast.FunctionDef)
    if function is not None:
        parts = frozen_parts(*function, f"`{function[1].name}`")
    else:
        yield from map(Assumption, _of_traced_module(swap))
        owner = swap.module.owner
        parts = tracing_differences(*owner, project) if owner is not None else iter(())
    yield from (Assumption(part, "project") for part in parts)


def _of_traced_module(swap: _Swap) -> Iterator[str]:
    view, project = swap.view, swap.context.project
    facts = read_captured_module(view, swap.node, swap.call, project)
    if facts.stateful and not facts.evaluated:
        yield (
            f"`.eval()` on `{facts.expression}` was not seen before the trace: one made in train mode keeps dropout and "
            "batch statistics on, whatever mode is set later"
        )
    yield from _switched_on(swap, facts)
    if swap.module.owner is None and not _is_torch_layer(view, swap.node):
        yield f"the code of `{swap.module.text}` was not found, so it was not searched for what a trace keeps of its example"
    if any(keyword.arg == "strict" for keyword in swap.call.keywords):
        yield "a trace with `strict=False` gives plain dicts and tuples, and the module what its `forward` makes"


def _switched_on(swap: _Swap, facts: CapturedModule) -> Iterator[str]:
    if not facts.stateful:
        return
    text = swap.view.source.text
    if ".train(" in text:
        line = text[: text.index(".train(")].count("\n") + 1
        yield f"`.train()` on line {line} may reach it, which a trace does not notice"


def _is_torch_layer(view: ModuleView, node: ast.expr) -> bool:
    """Whether the module is made by torch alone: a layer, or a `Sequential` of layers."""
    binding = view.definition(node)
    value = binding.value if binding is not None and binding.kind == "assign" else node
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MODES:
        value = value.func.value
    return isinstance(value, ast.Call) and all(
        view.certain_name(child.func).startswith("torch.nn.") for child in walk(value) if isinstance(child, ast.Call)
    )


def _aliases(swap: _Swap) -> Iterator[str]:
    """Clauses about other names of the module, which mean the same object as the value from now on."""
    view, node, life = swap.view, swap.node, swap.life
    target = life.name or life.attribute
    same = target is not None and view.text(target) == view.text(node)
    modes = _modes(life)
    if not modes or (modes == {"eval"} and _evaluated(swap)):
        modes = set()
    shown = f"`.{min(modes)}()`" if modes else ""
    if isinstance(node, ast.Attribute):
        if modes:
            yield f"{shown} of the value changes `{one_line(view, node)}` too, which is the same object"
        return
    binding = view.definition(node)
    if not isinstance(node, ast.Name) or binding is None:
        return
    if binding.kind == "param" and modes:
        yield f"{shown} of the value changes what the caller passed as `{node.id}` too, which is the same object"
        return
    if same:
        return
    for read, _ in view.reads_of(binding):
        inside = any(ancestor is swap.call for ancestor in view.ancestors(read))
        before = read.lineno <= swap.call.lineno and view.function_of(read) is view.function_of(swap.call)
        if inside or (before and not _again_in_loop(view, read, swap.call)) or excludes(view, read, swap.call):
            continue
        parent = view.parent(read)
        asked = parent.attr if isinstance(parent, ast.Attribute) else ""
        stored = isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Store)
        if modes or asked in _MODES or stored:
            change = shown or (f"`.{asked}`" if asked else "a change")
            yield f"`{node.id}` is used again on line {read.lineno} and is the same object: {change} of one changes the other"
            return


def _again_in_loop(view: ModuleView, read: ast.AST, call: ast.Call) -> bool:
    """Whether a read in front of the capture runs again behind it, in a loop around both."""
    loops = {ancestor for ancestor in view.ancestors(call) if isinstance(ancestor, (ast.For, ast.AsyncFor, ast.While))}
    return not loops.isdisjoint(view.ancestors(read))


def _modes(life: ValueLife) -> set[str]:
    """Methods called on the value that change it in place."""
    found = {"eval"} if any(_calls_eval(statement) for statement in life.evals) else set()
    if isinstance(life.outer, ast.Call) and life.outer is not life.origin and not life.frozen:
        found.add("eval")
    for obstacle in life.obstacles:
        parent = life.home(obstacle.node).parent(obstacle.node)
        if isinstance(parent, ast.Attribute) and parent.value is obstacle.node and parent.attr in _MODES:
            found.add(parent.attr)
    return found


def _calls_eval(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "eval" for node in walk(statement))


def _evaluated(swap: _Swap) -> bool:
    return read_captured_module(swap.view, swap.node, swap.call, swap.context.project).evaluated


def _frozen(swap: _Swap) -> Iterator[str]:
    """A clause about gradients, which flow through a module that is frozen no more."""
    life = swap.life
    if life.frozen and not (life.calls and all(without_gradient(life.home(call), call) for call in life.calls)):
        yield "results of the frozen module needed no gradient, and those of the module do outside `torch.no_grad()`"


# The fix


def _thrown_away(swap: _Swap) -> ModuleVerdict:
    """A capture that only checks that it is possible."""
    view, life = swap.view, swap.life
    statement = life.statement
    made = next((child for child in walk(swap.node) if isinstance(child, (ast.Call, ast.Await))), None)
    if made is not None:
        swap.doubt(f"`{one_line(view, made)}` is no longer made")
    if swap.traced:
        facts = read_captured_module(view, swap.node, swap.call, swap.context.project)
        if facts.stateful and not facts.evaluated:
            swap.doubt("the trace ran the module once in train mode, which moves its statistics")
    rewrites = [DeleteStatement(view.span(statement)), *_fed(swap)]
    what = "trace" if swap.traced else "scripting"
    fix = Fix(f"Delete the {what}, whose result is thrown away", _safety(swap), tuple(rewrites))
    return ModuleVerdict(_help(swap, f"the {what} only checked that it is possible"), fix, notes=_notes(swap))


def _fed(swap: _Swap) -> list[Rewrite]:
    """The statements go that only made example inputs."""
    if not swap.traced:
        return []
    others = [argument for argument in swap.call.args if argument is not swap.node]
    keywords = [keyword.value for keyword in swap.call.keywords if keyword.value is not swap.node]
    fed = fed_only(swap.view, [*others, *keywords], swap.context.project)
    if fed.random is not None and (seed := first_seed(swap.context.project)) is not None:
        swap.doubt(
            f"{seed} seeds the random numbers, and those that line {fed.random.lineno} drew go to others from now on"
        )
    drawn = _may_draw(swap, [*others, *keywords, *fed.statements])
    if drawn is not None and swap.recorded is not None and not drops(swap.context):
        swap.doubt(f"`{one_line(swap.view, drawn)}` is no longer evaluated: what is drawn later may be other numbers")
    called = [child for value in (*others, *keywords) for child in walk(value) if isinstance(child, ast.Call)]
    named = {swap.view.certain_name(child.func) for child in called}
    if unknown := next((name for name in named if not name.startswith("torch.")), None) if called else None:
        swap.doubt(f"`{unknown}` is no longer called")
    elif called and "" in named:
        swap.doubt(f"`{one_line(swap.view, called[0])}` is no longer evaluated")
    return [DeleteStatement(swap.view.span(statement)) for statement in fed.statements]


def _may_draw(swap: _Swap, gone: Sequence[ast.AST]) -> ast.Call | None:
    """A call among what goes with a trace that may draw random numbers; None if none can."""
    calls = (child for node in gone for child in walk(node) if isinstance(child, ast.Call))
    return next((call for call in calls if swap.view.certain_name(call.func) not in _DRAWS_NOTHING), None)


def _verdict(swap: _Swap, whole: tuple[Rewrite, ...] | None) -> ModuleVerdict:
    view, node = swap.view, swap.node
    compiles = swap.context.settings.torchscript.speed == "compile"
    rewrites: list[Rewrite] = []
    if compiles:
        compiled = _compiled(swap)
        if compiled is None:
            return ModuleVerdict("Not rewritten: how `torch.compile` is spelled here is not certain.")
        rewrites += compiled
    elif whole is not None:
        rewrites += whole
    else:
        rewrites += _replaced(swap)
    rewrites += _fed(swap)
    subject = "Use the module itself" if swap.module.kind == "module" else f"Use `{swap.module.text}` itself"
    if compiles:
        subject = f"Compile `{swap.module.text}` with `torch.compile`"
    fix = Fix(subject, _safety(swap), tuple(rewrites), _COMPILE if compiles else None)
    said = _help(swap, f"`{one_line(view, node)}` can take the place of its capture")
    whole_goes = whole is not None and not compiles and not isinstance(whole[0], DeleteStatement)
    idle = idle_options(view, swap.call) if whole_goes and drops(swap.context) else []
    if idle:
        said = " ".join(
            filter(None, (said, f"Nothing else reads {' and '.join(idle)} here: it has no effect any more."))
        )
    return ModuleVerdict(said, fix, notes=_notes(swap))


def _replaced(swap: _Swap) -> list[Rewrite]:
    """The module where the capture stands, and what froze the capture goes."""
    view, life, node = swap.view, swap.life, swap.node
    target = life.name or life.attribute
    same = target is not None and view.text(target) == view.text(node)
    rewrites: list[Rewrite]
    second = without_second_name(view, life.statement, node) if not life.frozen and not life.evals else None
    if second is not None and _bare(view, life, swap.call):
        return list(second)
    if same and _bare(view, life, swap.call):
        rewrites = [DeleteStatement(view.span(life.statement), stale_above(view, life.statement))]
    else:
        module = Template("$module", (("module", view.span(node)),))
        rewrites = [
            ReplaceExpression(view.span(swap.call), module),
            *without_stale_comments(view, (life.statement,)),
        ]
    for frozen in life.frozen:
        statement = view.parent(frozen)
        if isinstance(statement, ast.Assign) and statement in life.evals:
            rewrites.append(DeleteStatement(view.span(statement)))
        elif not (same and swap.call in walk(frozen)):
            inner = Template("$value", (("value", view.span(frozen.args[0])),))
            rewrites.append(ReplaceExpression(view.span(frozen), inner))
    return rewrites


def _bare(view: ModuleView, life: ValueLife, call: ast.Call) -> bool:
    """Whether nothing but freezing stands between the call and the variable."""
    node: ast.AST = call
    while node is not life.statement:
        parent = view.parent(node)
        if parent is life.statement:
            return True
        if parent not in life.frozen:
            return False
        assert parent is not None
        node = parent
    return False


def _compiled(swap: _Swap) -> list[Rewrite] | None:
    """`torch.compile` in the place of the capture; None if it cannot be written there."""
    view, life, node = swap.view, swap.life, swap.node
    target = life.name or life.attribute
    bare = isinstance(life.statement, ast.Assign) and _bare(view, life, swap.call)
    same = target is not None and view.text(target) == view.text(node)
    alone = same and view.block(life.statement) == [life.statement]  # a `pass` would stay
    if swap.module.kind == "module" and target is not None and bare and not alone:
        call = f"{view.text(target)}.compile()"
        compiled = InsertStatements(view.span(life.statement), (call,), "before" if same else "after")
        return [*_replaced(swap), compiled]
    spelling = view.spell("torch.compile", swap.call, swap.use)
    if spelling is None:
        return None
    if swap.module.kind != "function":
        swap.doubt("`torch.compile` puts `_orig_mod.` in front of the keys of a module's state_dict")
    module = Template(f"{spelling.text}($module)", (("module", view.span(node)),))
    return [*spelling.imports, ReplaceExpression(view.span(swap.call), module), *_replaced(swap)[1:]]


def _safety(swap: _Swap) -> Safety:
    safety = safety_of(swap.doubts, swap.recorded)[0]
    return Safety.PROVEN if safety is Safety.SAFE and not drops(swap.context) else safety


def _help(swap: _Swap, what: str) -> str:
    left = clauses(safety_of(swap.doubts, swap.recorded)[1])
    return f"Needs review: {what}: {sentence(left)}" if left else ""


def _notes(swap: _Swap) -> tuple[str, ...]:
    return swap.recorded.notes() if swap.recorded is not None else ()
