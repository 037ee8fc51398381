"""`torch.jit.load`: the reader of an artifact changes together with its writer, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from torchlift.finding import (
    EditCall,
    Finding,
    Fix,
    Group,
    Rewrite,
    Safety,
    Severity,
    Template,
)
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.project.torchscript_elsewhere import foreign_doubt
from torchlift.rules.analysis.wording.messages import one_line
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.captures.artifact_sites import COLLECTOR
from torchlift.rules.torchscript.captures.artifacts import Artifact, opened_path, read_artifact, unknown_writers
from torchlift.rules.torchscript.captures.export_beside import export_beside
from torchlift.rules.torchscript.captures.handed_files import given_before
from torchlift.rules.torchscript.facts.deprecation import DEPRECATED, EXPORT_DOCS, SINCE, SOURCES
from torchlift.rules.torchscript.proofs.recorded_capture import (
    Asks,
    Assumption,
    Recorded,
    clauses,
    recorded_group,
    recorded_load,
    safety_of,
)
from torchlift.rules.torchscript.scripting_tests.verdict import in_scripting_test
from torchlift.rules.torchscript.values.dropped_calls import drop_calls, gradient_doubt
from torchlift.rules.torchscript.values.example_inputs import visible_sizes
from torchlift.rules.torchscript.values.value_life import ValueLife, follow
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

RULE = Rule(
    code="TL103",
    name="torchscript-load",
    summary="`torch.jit.load` instead of `torch.export.load`",
    why=(
        f"{SINCE}. A file written by `torch.jit.save` can be read only by `torch.jit.load`, and one written by "
        "`torch.export.save` only by `torch.export.load`, so both ends have to change together."
    ),
    fix=(
        "Safe when the path is a constant, every writer of the file in the project is a trace that TL101 rewrites, "
        "nothing else mentions the file, and every use of the loaded value is a positional call with the exported "
        "number of inputs or `.eval()` (a no-op on a trace). Then writer and reader are changed together and, where both "
        "spell the path out or share a constant that does, the suffix becomes `.pt2`, so that old and new files are never "
        "mixed up. Run the writer "
        "once more before the reader: existing TorchScript files cannot be opened by the new code. "
        "`map_location` is dropped only for the CPU; for another device `move_to_device_pass` moves the program, which "
        "needs review. Nothing is offered for a file that nothing in the project writes, nor beside `torch.export.load`."
    ),
    targets=("torch.jit.load",),
    triggers=("jit", "_jit_internal"),
    deprecated=DEPRECATED,
    collectors=(COLLECTOR,),
    sources=(*SOURCES, EXPORT_DOCS),
)

_MESSAGE = f"`torch.jit.load`: {SINCE}. `torch.export.load` reads what `torch.export.save` wrote."
_NEEDS = TorchVersion(2, 5)
_ASKED_FOR = lazy_pattern(r"((?:or what else `\w+` returns )?is asked for )(`\.\w+`)(, which .*)")


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if isinstance(use.node, ast.alias):
        return
    if (tested := in_scripting_test(use, context, "TL103", _MESSAGE)) is not None:
        yield tested
        return
    span = view.span(use.node)
    given = _arguments(use.call) if use.call is not None else None
    if use.call is None or given is None:
        advice = "Replace this use by hand; only calls with a path are looked at."
        yield Finding("TL103", view.path, span, _MESSAGE, Severity.WARNING, advice)
        return
    life = follow(view, use.call, context.project)
    artifact = read_artifact(view, given.path, context.project)
    runs = context.settings.evidence
    ends = runs.ends_at(view.path, *view.source.location(span.start)) if runs is not None else None
    plan = _Plan(view, use, life, given, artifact, context.project, recorded_load(ends))
    plan.weigh()
    groups: tuple[Group, ...] = artifact.group()
    if ends is not None and plan.recorded is not None and (artifact.obstacle() or not artifact.writers):
        groups += recorded_group(ends)
    notes = plan.recorded.notes() if plan.recorded is not None else ()
    rewrites = plan.rewrites() if not plan.refusals else None
    if rewrites is None:
        advice = f"Not rewritten: {'; '.join(plan.refusals)}. See {EXPORT_DOCS}"
        yield Finding("TL103", view.path, span, _MESSAGE, Severity.WARNING, advice, groups=groups, notes=notes)
        return
    here, elsewhere = artifact.new_suffix(view, given.path)
    safety, left = safety_of(plan.assumptions, plan.recorded)
    advice_text = f"Needs review: {'; '.join(dict.fromkeys(clauses(left)))}." if left else None
    fix = Fix("Load the exported program", safety, (*rewrites, *here), _NEEDS, elsewhere)
    yield Finding("TL103", view.path, span, _MESSAGE, Severity.WARNING, advice_text, fix, groups=groups, notes=notes)


@dataclass(frozen=True)
class _Given:
    """The arguments of a load call, with their keys: a position or a keyword."""

    path: ast.expr
    path_key: int | str
    location: ast.expr | None = None
    location_key: int | str = "map_location"
    extra_files: ast.expr | None = None
    extra_key: int | str = "_extra_files"
    dropped: tuple[int | str, ...] = ()


def _arguments(call: ast.Call) -> _Given | None:
    """The arguments of a load call; None if they are not understood."""
    names = ["f", "map_location", "_extra_files", "_restore_shapes"]
    given: dict[str, tuple[ast.expr, int | str]] = {}
    if any(isinstance(argument, ast.Starred) for argument in call.args) or len(call.args) > len(names):
        return None
    for index, argument in enumerate(call.args):
        given[names[index]] = (argument, index)
    for keyword in call.keywords:
        if keyword.arg not in names or keyword.arg in given:
            return None
        given[keyword.arg] = (keyword.value, keyword.arg)
    if "f" not in given:
        return None
    path, path_key = given["f"]
    location, location_key = given.get("map_location", (None, "map_location"))
    extra, extra_key = given.get("_extra_files", (None, "_extra_files"))
    dropped = tuple(given[name][1] for name in names[1:] if name in given)
    return _Given(path, path_key, location, location_key, extra, extra_key, dropped)


@dataclass
class _Plan:
    """The migration of one load call, while it is being put together."""

    view: ModuleView
    use: Use
    life: ValueLife
    given: _Given
    artifact: Artifact
    project: Project
    recorded: Recorded | None = None
    refusals: list[str] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    moves: bool = False

    def assume(self, reason: str, asks: Asks = "run") -> None:
        """Take a clause for an assumption; a run that reaches the place could settle it if it asks one."""
        self.assumptions.append(Assumption(reason, asks))

    def weigh(self) -> None:
        """Find the reasons against a rewrite, and the assumptions it needs."""
        artifact, life = self.artifact, self.life
        if (beside := export_beside(self.view, life.origin)) is not None:
            self.refusals.append(beside)
        seen = self.recorded is not None and self.recorded.proved
        if not artifact.writers and not seen:
            self.refusals.append(self._no_writer())
        obstacle = artifact.obstacle()
        if obstacle is not None and not seen:
            self.assume(obstacle, "project")
            if (foreign := foreign_doubt(self.project)) is not None:
                self.assume(foreign, "project")
        if any(not (site.traced or site.scripted) for _, site in artifact.writers):
            path, site = next((path, site) for path, site in artifact.writers if not (site.traced or site.scripted))
            self.refusals.append(
                f"{artifact.title} is written as TorchScript at {path}:{site.line}, and what is written there is not seen to be a trace"
            )
        self._weigh_location()
        if self.given.extra_files is not None:
            self._weigh_extra_files()
        said: dict[tuple[str, bool], list[str]] = {}
        for item in life.obstacles:
            said.setdefault((item.clause, item.safety is Safety.MANUAL), []).append(life.place(item.node))
        # What is asked for and lacks for the same reason is said in one clause.
        alike: dict[tuple[str, str, bool], list[str]] = {}
        for (reason, refuses), places in said.items():
            asked = _ASKED_FOR.fullmatch(reason)
            start, shown, end = asked.groups() if asked else (reason, "", "")
            alike.setdefault((start, end, refuses), []).append(f"{shown} ({', '.join(places)})")
        for (start, end, refuses), items in alike.items():
            clause = f"the loaded value {start}{', '.join(items)}{end}"
            if refuses:
                self.refusals.append(clause)
            else:
                self.assume(clause)
        if (doubt := gradient_doubt(life)) is not None:
            self.assume(doubt, "project")
        if life.saves:
            self.refusals.append(f"the loaded value is saved again ({life.place(life.saves[0].call)})")
        ranks = {site.ranks for _, site in artifact.writers}
        for called in life.calls:
            place = life.place(called)
            if called.keywords:
                self.refusals.append(f"the loaded value is called with keywords ({place}), which export rejects")
            elif any(isinstance(argument, ast.Starred) for argument in called.args):
                self.assume(f"the number of arguments has to be that of the exported inputs ({place})")
            elif not _matches(life.home(called), called, ranks):
                self.assume(f"the call may not match the exported inputs ({place})")

    def _no_writer(self) -> str:
        """A clause about a file that nothing is seen to write, with the places that may be its writers."""
        opened = opened_path(self.view, self.given.path)
        title = self.artifact.title if opened is None else f"the file that `{one_line(self.view, opened)}` names"
        writers = unknown_writers(self.project, self.view.path)
        maybe = f" (where the TorchScript that {writers} made goes was not followed)" if writers is not None else ""
        given = given_before(self.view, self.given.path) if opened is None else None
        if given is not None:
            maybe = f", and what `{one_line(self.view, given.func)}` does with it on line {given.lineno} was not read{maybe}"
        return (
            f"nothing in this project is seen to write {title}{maybe}, and `torch.export.load` opens no TorchScript archive: whoever "
            "makes the file has to write it with `torch.export.save` first, or `torchlift convert` makes a .pt2 of the file, where "
            "both do the same"
        )

    def _weigh_location(self) -> None:
        location = self.given.location
        if location is None or (isinstance(location, ast.Constant) and location.value is None):
            return
        if not _is_cpu(self.view, location):
            self.moves = True
            self.assume(
                "`torch.export.load` has no `map_location`, so `move_to_device_pass` moves the program afterwards, which "
                "needs the device it was exported on to be there when it is loaded",
                "project",
            )
        elif any(site.moved for _, site in self.artifact.writers):
            self.assume("`map_location` can be dropped only if the program was exported on the CPU", "project")

    def _weigh_extra_files(self) -> None:
        extra = self.given.extra_files
        around = self.view.function_of(self.use.node) or self.view.tree
        decodes = [
            node for node in walk(around) if isinstance(node, ast.Attribute) and node.attr in {"decode", "tobytes"}
        ]
        if not isinstance(extra, ast.Name) or decodes:
            line = f" (line {decodes[0].lineno})" if decodes else ""
            self.refusals.append(
                f"it reads extra files, which `torch.export.load` gives back as text and not as bytes{line}: change what is "
                "done with them together with this call"
            )
        else:
            self.assume(f"the extra files in `{extra.id}` are text from now on, and were bytes", "project")

    def rewrites(self) -> list[Rewrite] | None:
        """The rewrites, or None (and a refusal) where the new names cannot be written."""
        view, life, call = self.view, self.life, self.life.origin
        load = view.spell("torch.export.load", call, self.use)
        move = view.spell("torch.export.passes.move_to_device_pass", call, self.use) if self.moves else None
        if load is None or (self.moves and move is None):
            self.refusals.append("how `torch.export.load` is spelled here is not certain")
            return None
        rewrites: list[Rewrite] = [*load.imports]
        added: list[tuple[str, Template]] = []
        if self.given.extra_files is not None:
            added.append(("extra_files", Template("$extra", (("extra", view.span(self.given.extra_files)),))))
        loaded = EditCall(
            view.span(call),
            function=Template(load.text),
            callee=view.span(call.func),
            drop=self.given.dropped,
            add=tuple(added),
            outer="$call.module()" if move is None else f"{move.text}($call, $device).module()",
            outer_parts=(("device", view.span(self.given.location)),)
            if move is not None and self.given.location is not None
            else (),
        )
        rewrites.append(loaded)
        rewrites += move.imports if move is not None else ()
        return [*rewrites, *drop_calls(life)]


def _matches(view: ModuleView, call: ast.Call, written: set[tuple[int | None, ...] | None]) -> bool:
    """Whether the number of arguments, and their ranks as far as visible, are those of every writer."""
    for ranks in written:
        if ranks is None or len(ranks) != len(call.args):
            return False
        for argument, rank in zip(call.args, ranks, strict=True):
            sizes = visible_sizes(view, argument)
            if sizes is not None and rank is not None and len(sizes) != rank:
                return False
    return True


def _is_cpu(view: ModuleView, node: ast.expr) -> bool:
    alone = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    if isinstance(node, ast.Call) and alone and view.possible_name(node.func) == "torch.device":
        return _is_cpu(view, node.args[0])
    return isinstance(node, ast.Constant) and node.value == "cpu"


_HEAD = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


def save():
    torch.manual_seed(0)
    net = Net().eval()
    example = torch.rand(4, 3)
"""
_RUN = "save()\nresult = observe(serve, torch.ones(4, 3))"
_EXPORT = "torch.export.export(net, (example,), dynamic_shapes=([torch.export.Dim.AUTO] * 2,))"

EXAMPLES = (
    Bad(
        _HEAD
        + '    torch.jit.trace(net, example).save("net.pt")\n\n\n'
        + 'def serve(x):\n    net = torch.jit.load("net.pt")\n    net.eval()\n    return net(x)\n',
        _HEAD
        + f'    torch.export.save({_EXPORT}, "net.pt2")\n\n\n'
        + 'def serve(x):\n    net = torch.export.load("net.pt2").module()\n    return net(x)\n',
        why="writer and reader in one file, literal path",
        run=_RUN,
    ),
    Bad(
        "import torch\n\nfrom train import PATH, save\n\nMODEL = None\n\n\ndef serve(x):\n    model = "
        "torch.jit.load(PATH, map_location=torch.device('cpu')).eval()  # on the CPU\n    return model(x)\n",
        "import torch\n\nfrom train import PATH, save\n\nMODEL = None\n\n\ndef serve(x):\n    model = "
        "torch.export.load(PATH).module()  # on the CPU\n    return model(x)\n",
        why="path constant of another file, CPU location",
        files=(
            (
                "train.py",
                _HEAD.replace("import torch\n", 'import torch\n\nPATH = "net.pt"\n', 1)
                + "    traced = torch.jit.trace(net, example)\n    torch.jit.save(traced, PATH)\n",
            ),
        ),
        run=_RUN,
    ),
    Bad(
        "import torch\n\n\ndef serve(path, x):\n    return torch.jit.load(path)(x)\n",
        why="the path is a parameter: nobody knows who writes the file",
    ),
    Bad(
        'import torch\n\nnet = torch.jit.load(torch.hub.download_url_to_file("https://x.org/net.pt", "net.pt"))\n',
        why="an archive that is downloaded",
    ),
    Bad(
        _HEAD
        + '    torch.jit.trace(net, example).save("net.pt")\n\n\n'
        + 'def serve(path):\n    if path.endswith(".pt2"):\n        return torch.export.load(path).module()\n'
        + '    return torch.jit.load("net.pt")\n',
        why="beside a branch that loads exported programs: the archives of users",
    ),
    Bad(
        _HEAD
        + '    torch.jit.trace(net, example).save("net.pt")\n\n\n'
        + 'def serve():\n    try:\n        return torch.export.load("net.pt").module()\n    except Exception:\n'
        + '        return torch.jit.load("net.pt")\n',
        why="where loading an exported program has failed",
    ),
    Bad(
        _HEAD
        + '    torch.jit.trace(net, example).save("net.pt")\n\n\n'
        + 'def serve(x, device="cpu"):\n    net = torch.jit.load("net.pt", map_location=device).eval()\n    return net(x)\n',
        _HEAD.replace("import torch\n", "import torch\nfrom torch.export.passes import move_to_device_pass\n", 1)
        + f'    torch.export.save({_EXPORT}, "net.pt2")\n\n\n'
        + 'def serve(x, device="cpu"):\n    net = move_to_device_pass(torch.export.load("net.pt2"), device).module()\n'
        + "    return net(x)\n",
        safety="unsafe",
        why="map_location to any device",
        run=_RUN,
    ),
    Bad(
        _HEAD
        + '    torch.jit.trace(net, example).save(f="net.pt")\n\n\n'
        + "class Server:\n    def __init__(self):\n"
        + '        self.net = torch.jit.load(f="net.pt", map_location=None)\n        self.net.eval()\n\n'
        + "    def __call__(self, x):\n        return self.net(x)\n\n\n"
        + "def serve(x):\n    return Server()(x)\n",
        _HEAD
        + f'    torch.export.save({_EXPORT}, "net.pt2")\n\n\n'
        + "class Server:\n    def __init__(self):\n"
        + '        self.net = torch.export.load(f="net.pt2").module()\n\n'
        + "    def __call__(self, x):\n        return self.net(x)\n\n\n"
        + "def serve(x):\n    return Server()(x)\n",
        why="kept on self; everything by keyword",
        run=_RUN,
    ),
    Bad(
        _HEAD
        + '    torch.jit.trace(net, example).save("net.pt")\n\n\n'
        + 'def load():\n    return torch.jit.load("net.pt")\n\n\n'
        + "def serve(x):\n    return load()(x)\n",
        _HEAD
        + f'    torch.export.save({_EXPORT}, "net.pt2")\n\n\n'
        + 'def load():\n    return torch.export.load("net.pt2").module()\n\n\n'
        + "def serve(x):\n    return load()(x)\n",
        why="returned to its only caller",
        run=_RUN,
    ),
    Bad(
        _HEAD
        + '    torch.jit.script(net).save("net.pt")\n\n\n'
        + 'def serve(x):\n    net = torch.jit.load("net.pt")\n    return net(x)\n',
        why="the writer scripts the model",
    ),
    Bad(
        _HEAD
        + '    torch.jit.trace(net, example).save("net.pt", _extra_files={"info": "a"})\n\n\n'
        + 'def serve(x):\n    files = {"info": ""}\n    return torch.jit.load("net.pt", _extra_files=files)(x)\n',
        _HEAD
        + f'    torch.export.save({_EXPORT}, "net.pt2", extra_files={{"info": "a"}})\n\n\n'
        + 'def serve(x):\n    files = {"info": ""}\n    return torch.export.load("net.pt2", extra_files=files).module()(x)\n',
        safety="unsafe",
        why="extra files come back as text, not bytes",
        run=_RUN,
    ),
    Bad(
        'import torch\n\nfiles = {"info": ""}\nnet = torch.jit.load("net.pt", _extra_files=files)\n'
        'info = files["info"].decode()\n',
        why="extra files that are decoded",
    ),
    Bad("import torch\n\nnet = torch.jit.load('net.pt')\nprint(net.code)\n", why="asked for its TorchScript code"),
    Ok('import json\n\nwith open("x") as jit:\n    json.load(jit)\n', "another load"),
    Ok('import torch\n\ncheckpoint = torch.load("jit.pt")\n', "torch.load"),
    Ok("class torch:\n    class jit:\n        load = open\n\n\ntorch.jit.load('x')\n", "a class named torch"),
    Ok("def main(torch):\n    return torch.jit.load('x')\n", "a parameter named torch"),
)
