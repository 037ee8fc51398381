"""A `--local_rank` option that torchrun does not pass, and that the old launcher spells with a dash."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import AddImport, EditCall, Finding, Fix, ReplaceExpression, Rewrite, Safety, Severity, Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Collector, Project
from torchlift.rules.analysis.values.environment_reads import environment_variable
from torchlift.rules.analysis.values.literals import integer, is_none
from torchlift.rules.distributed.facts.launch_command import passes_local_rank
from torchlift.rules.distributed.groups.backends import BACKENDS, project_backends
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

RULE = Rule(
    code="TL205",
    name="local-rank-option-of-the-old-launcher",
    summary="A `--local_rank` option that torchrun does not pass, and that the old launcher spells with a dash",
    why=(
        "Since torch 2.0 `torch.distributed.launch` passes `--local-rank`, with a dash: a parser that only knows `--local_rank` ends "
        "every process with exit status 2. "
        "`torch.distributed.launch` passes the local rank as an option; it is deprecated and says that it will be removed. "
        "torchrun sets the environment variable `LOCAL_RANK` and passes nothing, so the option keeps its default in every "
        "process: all of them use one GPU, which the NCCL of torch 2.15 refuses while the group is made."
    ),
    fix=(
        "Safe: where a command of the project starts the script by the old launcher, the option takes the second spelling, and keeps its "
        "name and its default. "
        'Needs review: an option with `type=int` and a constant default gets `int(os.environ.get("LOCAL_RANK", ...))` as '
        "default and both spellings. Otherwise advice. Silent where the file, one it imports, or one beside it reads the "
        "variable, where the file sets `local_rank` of the arguments itself, and where DeepSpeed's launcher may pass the option."
    ),
    targets=("*.add_argument",),
    triggers=("--local_rank", "--local-rank"),
    sources=(
        "torch/distributed/launch.py and run.py of the 2.10-2.15 wheels (FutureWarning; LOCAL_RANK), read 2026-11-21",
        "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributed/run.py",
    ),
)

_SPELLINGS = frozenset({"--local_rank", "--local-rank"})
# What each process is told otherwise: `args.local_rank = rank`.
_SET_HERE = lazy_pattern(r"\.local_rank\s*=(?!=)")
# These launchers do pass the option, or fill the attribute.
_NAME = "LOCAL_RANK"
_LAUNCHERS = ("deepspeed", "colossalai")


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call":
        return
    flags = [a for a in call.args if isinstance(a, ast.Constant) and a.value in _SPELLINGS]
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    required = isinstance(given := keywords.get("required"), ast.Constant) and bool(given.value)
    refused = _refused(view, context.project, call, flags, required=required)
    if refused is not None:
        yield refused
        return
    if not flags or None in keywords or "dest" in keywords:
        return
    default = keywords.get("default")
    if default is not None and _may_read_environment(default):
        return
    if _SET_HERE.search(view.source.text):
        return
    none = default is None or is_none(default)
    if not _is_distributed(view, context.project) or _filled_elsewhere(view, context.project, everywhere=none):
        return
    flag = view.text(flags[0])[1:-1]
    value = view.text(default) if default is not None else "None"
    says_alone = none or value.startswith(("-", '"-', "'-"))
    alone = " or believe that they run alone" if says_alone else ""
    message = (
        f"torchrun does not pass `{flag}`: it sets the environment variable `LOCAL_RANK`. Where it starts this and nothing else sets `local_rank`, that stays "
        f"{value} in every process, and all of them may end up on one GPU{alone}."
    )
    span = view.span(use.node)
    fix = _fix(view, call, flags, keywords)
    if fix is None:
        advice = (
            f'Read the variable: `default=os.environ.get("LOCAL_RANK", {value})` (of `type=int`), and accept both `--local_rank` and '
            "`--local-rank` as long as `torch.distributed.launch` is in use."
        )
        yield Finding("TL205", view.path, span, message, Severity.WARNING, advice)
        return
    consequence = (
        f"; what tests for {value} to find out that it runs alone must mean that."
        if says_alone
        else ": what chooses a GPU by it, or asks whether this is the first process, does so by the process from now on."
        if value == "0"
        else ": what chooses a GPU by it does so by the process from now on."
    )
    help_text = f"Needs review: where `LOCAL_RANK` is set although the option is left out, the option now follows it{consequence}"
    yield Finding("TL205", view.path, span, message, Severity.WARNING, help_text, fix)


def _refused(
    view: ModuleView, project: Project, call: ast.Call, flags: list[ast.Constant], *, required: bool
) -> Finding | None:
    """The option of a script that the old launcher starts with a spelling which its parser does not know."""
    if [flag.value for flag in flags] != ["--local_rank"] or "--local-rank" in view.source.text:
        return None
    if any(launcher in view.source.text for launcher in _LAUNCHERS):
        return None
    place = passes_local_rank(project, view.path)
    if place is None:
        return None
    span, quote = view.span(flags[0]), view.text(flags[0])[0]
    ends = _what_becomes_of_it(view, call, required=required)
    message = (
        f"Since torch 2.0 `torch.distributed.launch`, which {place} names, passes `--local-rank`, with a dash, which this parser "
        f"does not know{ends}."
    )
    both = Template(f"{view.text(flags[0])}, {quote}--local-rank{quote}")
    fix = Fix("Accept both spellings", Safety.SAFE, (ReplaceExpression(span, both, bare=True),))
    help_text = "The option keeps its name: argparse takes it from the first spelling. torchrun passes neither and sets `LOCAL_RANK`."
    return Finding("TL205", view.path, span, message, Severity.ERROR, help_text, fix)


def _what_becomes_of_it(view: ModuleView, call: ast.Call, *, required: bool) -> str:
    """What a parser does with the spelling that it does not know, as the end of a sentence."""
    own = view.text(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    parsed = {
        (view.text(node.func.value) == own, node.func.attr)
        for node in walk(view.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    strict, lenient = ((True, name) in parsed for name in ("parse_args", "parse_known_args"))
    if not strict and not lenient:
        strict, lenient = ((False, name) in parsed for name in ("parse_args", "parse_known_args"))
    if lenient and not strict and not required:
        return " and passes over"
    if strict and lenient and not required:
        return ": `parse_known_args` passes over it, and `parse_args` ends every process with exit status 2"
    return ": it ends every process with exit status 2"


def _fix(
    view: ModuleView, call: ast.Call, flags: list[ast.Constant], keywords: dict[str | None, ast.expr]
) -> Fix | None:
    """The option with its default from the environment and both spellings; None unless it is a plain number."""
    kind, default = keywords.get("type"), keywords.get("default")
    if not isinstance(kind, ast.Name) or kind.id != "int" or {"action", "nargs", "const"} & set(keywords):
        return None
    if default is None or integer(default) is None:
        return None
    rewrites: list[Rewrite] = []
    spelled = view.spell("os.environ", call)
    if spelled is None:
        anchor = _import_of_argparse(view)
        if anchor is None or view.scope_at(call).lookup("os") is not None or view.scopes.stars:
            return None
        rewrites.append(AddImport("import os", view.span(anchor)))
    environ = spelled.text if spelled is not None else "os.environ"
    value = Template(f'int({environ}.get("LOCAL_RANK", $default))', (("default", view.span(default)),))
    rewrites.append(EditCall(view.span(call), arguments=(("default", value),)))
    if len(flags) == 1 and len(call.args) == 1:
        other = "--local-rank" if flags[0].value == "--local_rank" else "--local_rank"
        quote = view.text(flags[0])[0]
        both = Template(f"{view.text(flags[0])}, {quote}{other}{quote}")
        rewrites.append(ReplaceExpression(view.span(flags[0]), both, bare=True))
    return Fix("Take the default from `LOCAL_RANK`", Safety.UNSAFE, tuple(rewrites))


def _import_of_argparse(view: ModuleView) -> ast.stmt | None:
    """The statement at the top of the file that imports argparse."""
    for statement in view.tree.body:
        if isinstance(statement, ast.Import) and any(alias.name == "argparse" for alias in statement.names):
            return statement
        if isinstance(statement, ast.ImportFrom) and statement.module == "argparse":
            return statement
    return None


def _may_read_environment(node: ast.expr) -> bool:
    """Whether an expression may read the environment: anything but constants."""
    return any(isinstance(child, (ast.Call, ast.Name, ast.Attribute)) for child in walk(node))


def _is_distributed(view: ModuleView, project: Project) -> bool:
    text = view.source.text
    return "torch.distributed" in text or "DistributedDataParallel" in text or bool(project_backends(project))


def _filled_elsewhere(view: ModuleView, project: Project, *, everywhere: bool) -> bool:
    """Whether something near this file fills in the local rank, or nothing in the file and beside it ever reads it.

    `everywhere` looks at the whole project: a default of None is there to be replaced.
    """
    text = view.source.text
    if any(launcher in text for launcher in _LAUNCHERS):
        return True
    records = project.records(_USERS)
    near = {view.path, *_imported_files(view, project)}
    folder = view.path.rpartition("/")[0]
    near |= {path for path in records if everywhere or path.rpartition("/")[0] == folder}
    facts = [records[path] for path in near if path in records]
    return any("filled" in fact for fact in facts) or not any("read" in fact for fact in facts)


def _imported_files(view: ModuleView, project: Project) -> set[str]:
    found: set[str] = set()
    for scope in view.scopes.scope_of.values():
        for bound in scope.bindings.values():
            for binding in bound:
                name = view.absolute(binding.imported) if binding.imported else None
                while name:
                    path = project.find_module(name, view.path)
                    if path is not None:
                        found.add(path)
                        break
                    name = name.rpartition(".")[0]
    return found


def _collect(view: ModuleView) -> frozenset[str] | None:
    """What one file does: `filled` where it reads `LOCAL_RANK` or assigns a `local_rank`, `read` where it uses one."""
    facts = set()
    for node in walk(view.tree):
        if (
            isinstance(node, (ast.Call, ast.Subscript))
            and _names_it(node)
            and environment_variable(view, node) == _NAME
        ):
            if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
                continue
            facts.add("filled")
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if isinstance(node.left, ast.Constant) and node.left.value == _NAME:
                facts.add("filled")  # what follows knows which launcher it has
        elif isinstance(node, ast.Attribute) and node.attr == "local_rank" and not isinstance(node.ctx, ast.Del):
            parent = view.parent(node)
            if isinstance(node.ctx, ast.Load):
                facts.add("read")
            elif isinstance(parent, ast.Assign) and not _copies_option(parent.value):
                facts.add("filled")
    return frozenset(facts) or None


def _names_it(node: ast.Call | ast.Subscript) -> bool:
    """Whether what may be a read of the environment names the variable: what it is read behind is not asked."""
    keys = [node.slice] if isinstance(node, ast.Subscript) else [*node.args, *(one.value for one in node.keywords)]
    return any(isinstance(key, ast.Constant) and key.value == _NAME for key in keys)


def _copies_option(node: ast.expr) -> bool:
    """Whether a value is a constant or a `local_rank` again, which fills in nothing new."""
    return isinstance(node, ast.Constant) or any(
        (isinstance(child, ast.Attribute) and child.attr == "local_rank")
        or (isinstance(child, ast.Name) and child.id == "local_rank")
        for child in walk(node)
    )


_USERS = Collector("distributed.local_rank_users", ("LOCAL_RANK", "local_rank"), _collect)
COLLECTORS = (_USERS, BACKENDS)

_HEAD = "import argparse\n\nimport torch\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
_OS_HEAD = _HEAD.replace("import argparse\n", "import argparse\nimport os\n")
_USE = "\n\ndef main(args):\n    torch.cuda.set_device(args.local_rank)\n    dist.init_process_group('gloo')\n"

EXAMPLES = (
    Bad(
        _OS_HEAD + 'parser.add_argument("--local_rank", type=int, default=0)  # set by the launcher\n' + _USE,
        _OS_HEAD
        + 'parser.add_argument("--local_rank", "--local-rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))'
        "  # set by the launcher\n" + _USE,
        safety="unsafe",
        why="one spelling, default 0",
        run='old = os.environ.pop("LOCAL_RANK", None)\nresult = parser.parse_args(["--local_rank", "3"]).local_rank',
    ),
    Bad(
        _HEAD + 'parser.add_argument("--local-rank", "--local_rank", type=int, default=-1)\n' + _USE,
        _HEAD.replace("import argparse\n", "import argparse\nimport os\n")
        + 'parser.add_argument("--local-rank", "--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", -1)))\n'
        + _USE,
        safety="unsafe",
        why="both spellings, and `os` has to be imported",
        run="import os\nresult = parser.parse_args([]).local_rank",
        ranks=(2, 3, 4),
        differs="torchrun sets LOCAL_RANK and passes no option",
    ),
    Bad(
        _OS_HEAD + 'parser.add_argument("--local-rank", "--local_rank", type=int, default=1)\n' + _USE,
        _OS_HEAD
        + 'parser.add_argument("--local-rank", "--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 1)))\n'
        + _USE,
        safety="unsafe",
        why="both spellings, default 1",
        run='os.environ.pop("LOCAL_RANK", None)\nresult = parser.parse_args([]).local_rank',
    ),
    Bad(
        _OS_HEAD + 'parser.add_argument("-r", "--local_rank", type=int, default=0)\n' + _USE,
        _OS_HEAD
        + 'parser.add_argument("-r", "--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))\n'
        + _USE,
        safety="unsafe",
        why="a short spelling beside it",
    ),
    Bad(_HEAD + 'parser.add_argument("--local_rank")\n' + _USE, why="no type, no default"),
    Bad(
        _HEAD + "parser.add_argument('--local_rank', default=0, type=int)\nargs = parser.parse_args([])\n",
        _HEAD
        + "parser.add_argument('--local_rank', '--local-rank', default=0, type=int)\nargs = parser.parse_args([])\n",
        why="a page starts it by the old launcher, and nothing reads the option",
        run='result = [vars(parser.parse_args(given)) for given in ([], ["--local_rank", "3"])]',
        files=(
            ("README.md", "```\npython -m torch.distributed.launch --nproc_per_node=8 example.py --epochs 3\n```\n"),
        ),
    ),
    Bad(
        _HEAD + 'parser.add_argument("--local_rank", dest="gpu", type=int)\nargs, rest = parser.parse_known_args([])\n',
        _HEAD
        + 'parser.add_argument("--local_rank", "--local-rank", dest="gpu", type=int)\nargs, rest = parser.parse_known_args([])\n',
        why="a script whose name is a variable is started",
        run='result = vars(parser.parse_known_args(["--local_rank", "3"])[0])',
        files=(("run.sh", "python3 -m torch.distributed.launch \\\n  --nproc_per_node=2 $SCRIPT\n"),),
    ),
    Ok(
        "import argparse\n\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n\n\ndef main(rank, args):\n"
        "    args.local_rank = rank\n    dist.init_process_group('nccl')\n\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--local_rank', type=int, default=-1)\nargs = parser.parse_args()\nmp.spawn(main, args=(args,), nprocs=8)\n",
        "a script that tells its processes itself",
    ),
    Ok(
        _HEAD.replace("import argparse\n", "import argparse\nimport os\n")
        + 'parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))\n'
        + _USE,
        "the default comes from the environment",
    ),
    Ok(
        _HEAD.replace("import argparse\n", "import argparse\nimport os\n")
        + 'parser.add_argument("--local_rank", type=int, default=0)\nargs = parser.parse_args()\n'
        "args.local_rank = int(os.environ['LOCAL_RANK'])\ntorch.cuda.set_device(args.local_rank)\n",
        "filled in afterwards",
    ),
    Ok(
        "import argparse\n\nimport deepspeed\nimport torch.distributed\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--local_rank', type=int, default=-1)\nprint(parser.parse_args().local_rank)\n",
        "the launcher of DeepSpeed passes it",
    ),
    Ok(
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--local_rank', type=int)\n"
        "print(parser.parse_args().local_rank)\n",
        "nothing distributed about it",
    ),
    Ok(
        "import argparse\n\nimport torch.distributed\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--local_rank', type=int, default=0)\nargs = parser.parse_args()\n",
        "accepted, and never read",
    ),
    Ok(
        _HEAD + "parser.add_argument('--local_rank', default=0, type=int)\nargs = parser.parse_args([])\n",
        "the launcher is told to set the variable",
        files=(("README.md", "    python -m torch.distributed.launch --use_env example.py\n"),),
    ),
    Ok(
        _HEAD + "parser.add_argument('--local_rank', default=0, type=int)\nargs = parser.parse_args([])\n",
        "the launcher starts another script",
        files=(("README.md", "    python -m torch.distributed.launch train.py\n"),),
    ),
    Ok(
        _HEAD + "parser.add_argument('--local_rank', default=0, type=int)\nargs = parser.parse_args([])\n",
        "a docstring shows how the launcher is called",
        files=(
            (
                "launch.py",
                '"""\n>>> python -m torch.distributed.launch YOUR_SCRIPT.py\n>>> python -m torch.distributed.launch --help\n"""\n',
            ),
        ),
    ),
    Ok('"""Call with --local_rank, see torch.distributed."""\n', "a docstring"),
)
