"""`python -m torch.distributed.launch`, in scripts and in the commands that Python code starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.distributed.facts.launch_command import (
    ELASTIC,
    ELASTIC_HELP,
    ELASTIC_MESSAGE,
    INSTALLED,
    MESSAGE,
    MODULE,
    RUN,
    RUN_ELASTIC,
    VALUE,
    advice_for,
)
from torchlift.rules.rule import Bad, Context, Ok, Rule, TextContext
from torchlift.source import Span
from torchlift.view import ModuleView, Use
from torchlift.view.text import SCRIPTS, TextView

_STARTERS = (
    "os.popen", "os.system", "subprocess.Popen", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
    "subprocess.getoutput", "subprocess.getstatusoutput", "subprocess.run",
)  # fmt: skip

RULE = Rule(
    code="TL206",
    name="distributed-launch",
    summary="`torch.distributed.launch` is deprecated; `torchrun` takes its place",
    why=(
        "`python -m torch.distributed.launch` prints a FutureWarning in torch 2.10-2.15 that it will be removed; in 2.15 it "
        "is still there. It calls the same code as `torchrun`, with one difference: unless `--use_env` is given, it passes "
        "`--local-rank` to the script. torchrun only sets the environment variable `LOCAL_RANK`, which both do."
    ),
    fix=(
        "None: the launched script may have to change together with the command. `torchrun` takes the same options; "
        "`--use_env` is dropped; a script that parses `--local-rank` reads "
        '`int(os.environ["LOCAL_RANK"])` instead.'
    ),
    targets=(MODULE, *_STARTERS),
    triggers=("launch & torch.distributed",),
    text_triggers=(MODULE, "torchelastic"),
    text_kinds=SCRIPTS | {"markdown", "batch", "powershell", "requirements"},
    sources=("torch/distributed/launch.py and torch/distributed/run.py of torch 2.10.0-2.15.0",),
)

_LOADERS = frozenset({"importlib.import_module", "runpy.run_module"})


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    for match in RUN.finditer(view.code):
        start = match.end() - len(MODULE)
        if is_shown(view, start):
            continue
        options = _rest_of_line(view, match.end())
        if view.kind == "yaml" and not options.strip(" \t\"'"):
            options = _items_below(view, match.end())
        span, command = Span(start, match.end()), Span(*match.span())
        yield Finding(
            "TL206", view.path, span, MESSAGE, help=advice_for(options, view.path, context.project), statement=command
        )
    yield from _elastic(view)
    for match in VALUE.finditer(view.code) if view.kind != "markdown" else ():
        span = Span(*match.span("module"))
        if not is_shown(view, span.start):
            advice = advice_for(_rest_of_line(view, span.end), view.path, context.project)
            yield Finding("TL206", view.path, span, MESSAGE, help=advice)


def _elastic(view: TextView) -> Iterator[Finding]:
    """The package that became the launcher of torch: where it is run, and where it is installed."""
    if "torchelastic" not in view.code:
        return
    for match in RUN_ELASTIC.finditer(view.code):
        span = Span(match.end() - len(ELASTIC), match.end())
        if not is_shown(view, span.start):
            yield Finding("TL206", view.path, span, ELASTIC_MESSAGE, help=ELASTIC_HELP, statement=Span(*match.span()))
    for match in INSTALLED.finditer(view.code):
        span = Span(*match.span("package"))
        listed = view.kind == "requirements" or "install" in match[0]
        if listed and not is_shown(view, span.start):
            yield Finding("TL206", view.path, span, ELASTIC_MESSAGE, help=ELASTIC_HELP)


def _rest_of_line(view: TextView, offset: int) -> str:
    line = view.line_at(offset - 1)
    return line.text[offset - line.start :] if line is not None else ""


def _items_below(view: TextView, offset: int) -> str:
    """The rest of the YAML list that has the module among its items."""
    items = []
    for line in view.lines:
        if line.start > offset:
            if not line.text.lstrip().startswith("- "):
                break
            items.append(line.text)
    return " ".join(items)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target in _STARTERS:
        if use.kind == "call" and use.call is not None:
            yield from _commands(context, use.call)
    elif use.kind == "string":
        if _is_run(view, use.node):
            yield _finding(context, view.span(use.node), _rest_of_list(view, use.node))
    elif use.kind == "import" or not _is_imported(use):
        yield _finding(context, view.span(use.node), "")


def _finding(context: Context, span: Span, options: str) -> Finding:
    path = context.view.path
    return Finding("TL206", path, span, MESSAGE, help=advice_for(options, path, context.project))


def _is_imported(use: Use) -> bool:
    """Whether the import that brought the name is a finding of its own."""
    binding = use.resolution.binding if use.resolution is not None else None
    return binding is not None and (binding.imported or "").startswith(MODULE)


def _is_run(view: ModuleView, node: ast.expr | ast.alias) -> bool:
    """Whether a string that is the module's name stands where it is going to be run."""
    parent = view.parent(node)
    if isinstance(parent, (ast.List, ast.Tuple, ast.Call)):
        items = parent.args if isinstance(parent, ast.Call) else parent.elts
        index = next((number for number, item in enumerate(items) if item is node), None)
        if index:
            before = items[index - 1]
            return isinstance(before, ast.Constant) and before.value == "-m"
        if isinstance(parent, ast.Call) and index == 0:
            return view.possible_name(parent.func) in _LOADERS
    return False


def _rest_of_list(view: ModuleView, node: ast.expr | ast.alias) -> str:
    parent = view.parent(node)
    items: list[ast.expr] = parent.elts if isinstance(parent, (ast.List, ast.Tuple)) else []
    return " ".join(str(item.value) for item in items if isinstance(item, ast.Constant))


def _commands(context: Context, call: ast.Call) -> Iterator[Finding]:
    """Command lines, written as text, that a call starts: in its first argument, or in what that is assigned from."""
    view = context.view
    arguments = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg in {"args", "cmd"})]
    names: set[str] = set()
    pending: list[ast.AST] = list(arguments)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = RUN.search(node.value)
            if match is not None:
                yield _finding(context, _span_of(view, node), node.value[match.end() :])
        elif isinstance(node, ast.Name) and node.id not in names:
            names.add(node.id)
            scope = view.scope_at(node).lookup(node.id)
            pending += [bound.value for bound in scope.bindings[node.id] if bound.value is not None] if scope else ()
        else:
            pending += ast.iter_child_nodes(node)


def _span_of(view: ModuleView, node: ast.Constant) -> Span:
    """Where a string stands; before Python 3.12 the parts of an f-string have no place of their own."""
    parent = view.parent(node)
    return view.span(parent if isinstance(parent, ast.JoinedStr) else node)


EXAMPLES = (
    Bad(
        "#!/bin/bash\npython -m torch.distributed.launch --nproc_per_node=8 train.py --epochs 3\n",
        why="a command in a script",
        path="train.sh",
    ),
    Bad(
        'CMD="python3 -u -m \\\n    torch.distributed.launch --use_env train.py"\n$CMD\n',
        why="a command in a variable, over two lines",
        path="train.slurm",
    ),
    Bad(
        'FROM pytorch/pytorch\nCMD ["python", "-m", "torch.distributed.launch", "--nproc_per_node=2", "train.py"]\n',
        why="the exec form of a container file",
        path="Dockerfile",
    ),
    Bad(
        "command:\n  - python\n  - -m\n  - torch.distributed.launch\n  - --use_env\n  - train.py\n",
        why="a list in YAML",
        path="job.yaml",
    ),
    Bad(
        "steps:\n  - run: |\n      # two processes\n      python -m torch.distributed.launch train.py\n",
        why="a script in YAML",
        path=".github/workflows/test.yml",
    ),
    Bad(
        'launcher="torch.distributed.launch --nproc_per_node=8"\npython -m $launcher train.py\n',
        why="a variable that begins with the module",
        path="run.bash",
    ),
    Bad(
        "cat <<EOF > job.sh\npython -m torch.distributed.launch train.py\nEOF\n",
        why="a here-document that becomes a script",
        path="make_job.sh",
    ),
    Bad(
        "LAUNCHER ?= torch.distributed.launch\n\ntrain:\n\tpython -m $(LAUNCHER) train.py\n",
        why="a variable of a makefile",
        path="Makefile",
    ),
    Bad(
        "# Training\n\n```\npython -m torch.distributed.launch --nproc_per_node=8 train.py\n```\n",
        why="a command of a page",
        path="README.md",
    ),
    Bad("torch>=1.7\ntorchelastic\n", why="the package that became the launcher, required", path="requirements.txt"),
    Bad(
        'RUN pip install --no-cache-dir torch torchelastic==0.2.2\nCMD ["python", "-m", "torchelastic.distributed.launch", "a.py"]\n',
        why="the same package, installed and run",
        path="Dockerfile",
    ),
    Bad(
        "import subprocess\nimport sys\n\n"
        'subprocess.run([sys.executable, "-m", "torch.distributed.launch", "train.py"])\n',
        why="a list of arguments in Python",
    ),
    Bad(
        "import os\n\n\ndef start(n):\n"
        '    cmd = f"python -m torch.distributed.launch --nproc_per_node {n} train.py"\n'
        '    cmd += " &"\n    print(cmd)\n    os.system(cmd)\n',
        why="a command line that Python builds",
    ),
    Bad(
        "from subprocess import check_call\n\n"
        'check_call("python -m torch.distributed.launch --use_env train.py".split())\n',
        why="a command line that is split",
    ),
    Bad("from torch.distributed.launch import main\n\nmain()\n", why="the module is imported"),
    Bad(
        "from torch.distributed import launch as starter\n\nstarter.main()\n",
        why="the module is imported under another name",
    ),
    Ok("gcloud container clusters create torchelastic \\\n  --zone a\n", "a cluster that bears the name", "k.sh"),
    Ok("torchelastic-controller==0.1\n", "another package", "requirements.txt"),
    Ok("torchrun --nproc_per_node=8 train.py\npython -m torch.distributed.run train.py\n", "torchrun", "a.sh"),
    Ok("# python -m torch.distributed.launch train.py\npython train.py\n", "commented out", "b.sh"),
    Ok('echo "Usage: python -m torch.distributed.launch train.py"\n', "a line of help", "c.sh"),
    Ok("python -m torch.distributed.launcher.api\npython -m my.torch.distributed.launch\n", "other modules", "d.sh"),
    Ok(
        ": <<'OLD'\npython -m torch.distributed.launch train.py\nOLD\ntorchrun train.py\n",
        "a here-document that comments code out",
        "f.sh",
    ),
    Ok(
        "usage() {\n  cat >&2 <<EOF\npython -m torch.distributed.launch train.py\nEOF\n}\n",
        "a here-document of help",
        "g.sh",
    ),
    Ok(
        "sed -i 's/python -m torch.distributed.launch/torchrun/' *.sh\n"
        "ps aux | grep 'python -m torch.distributed.launch' | wc -l\n",
        "text that is looked for",
        "h.sh",
    ),
    Ok(
        "description: |\n  Example:\n    python -m torch.distributed.launch train.py\nrun: torchrun train.py\n",
        "a description over several lines",
        "i.yml",
    ),
    Ok(
        "{{- /* python -m torch.distributed.launch */ -}}\n{# python -m torch.distributed.launch #}\na: b\n",
        "comments of templates",
        "j.yaml",
    ),
    Ok(
        'FROM a\nLABEL start="python -m torch.distributed.launch"\nRUN echo "python -m torch.distributed.launch"\n',
        "a label, and what a build prints",
        "Dockerfile",
    ),
    Ok("steps:\n  - name: python -m torch.distributed.launch\n    run: torchrun train.py\n", "a title", "e.yml"),
    Ok("We leave the old launcher: torch.distributed.launch\n", "a page that speaks of the module", "NOTES.md"),
    Ok('"""Start with python -m torch.distributed.launch train.py."""\n', "a docstring"),
    Ok(
        "import subprocess\n\n\ndef run(subprocess, launch):\n"
        '    """torch.distributed.launch"""\n    subprocess.run("python -m torch.distributed.launch x.py")\n',
        "a parameter called subprocess",
    ),
    Ok(
        'parser.add_argument("--local_rank", help="set by python -m torch.distributed.launch")\n',
        "the help of an option",
    ),
    Ok(
        "import torch\n\nif torch.__version__ < (1, 9):\n"
        '    command = ["python", "-m", "torch.distributed.launch", "x.py"]\n'
        'else:\n    command = ["torchrun", "x.py"]\n',
        "a command for old releases only",
    ),
)
