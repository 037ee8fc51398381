"""Code that reads like torch.distributed and is something else: no rule of this kind says anything about it.

Every example that a rule reports is disguised, so that the same words mean another library, a parameter, a loop variable,
text, a branch for another release, or a program on gloo. Then come programs that were written to be mistaken.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from example_project import analyse_files

from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Rule

RULES = [rule for code, rule in all_rules().items() if code.startswith("TL2")]
CODES = frozenset(rule.code for rule in RULES)
Disguise = Callable[[str], str]

# What these report does not hang on a name of torch: a command in a string, an environment variable, the package
# torchcomms, an attribute that only torch's backends have.
SPEAKS_FOR_ITSELF = {"TL206", "TL236", "TL242", "TL243"}
# The same beside an import of torch.distributed: an option of the launcher, a hook that only its groups have.
SPEAKS_BESIDE_TORCH = {"TL205", "TL244"}
# Right on gloo as well: launching, groups, batches of point-to-point, private helpers, names that are gone.
ON_GLOO_TOO = {
    *("TL205", "TL206", "TL218", "TL219", "TL220", "TL230", "TL232", "TL234", "TL237", "TL238", "TL243"),
    *("TL250", "TL251", "TL252", "TL253"),
}
# Only found at the top level of a module, in other files than Python, or with a lower torch bound of their own.
NOT_IN_FUNCTIONS = {"TL204", "TL245", "TL252"}


def sources(rule: Rule) -> list[str]:
    """The Python files of everything that a rule reports."""
    found = []
    for example in rule.examples:
        if isinstance(example, Bad):
            files = {example.path: example.before, **dict(example.files)}
            found += [text for path, text in files.items() if path.endswith(".py")]
    return found


def found_in(folder: Path, files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Code and message with the file's text of all findings."""
    result = analyse_files(folder, files, codes=CODES)
    assert not result.failures
    return [
        (finding.code, f"{finding.message}\n{files[outcome.path]}")
        for outcome in result.outcomes
        for finding in (*outcome.left, *outcome.fixed)
    ]


def parts(texts: list[str]) -> dict[str, str]:
    for text in texts:
        ast.parse(text)
    return {f"part{number}.py": text for number, text in enumerate(texts)}


def without_torch(code: str) -> tuple[str, list[str]]:
    """The code without its imports from torch, and the names that these bound."""
    lines, names = code.splitlines(), []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        if not any(module.partition(".")[0] == "torch" for module in modules):
            continue
        names += [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        assert node.end_lineno is not None
        for number in range(node.lineno, node.end_lineno + 1):
            lines[number - 1] = " " * node.col_offset + "pass"
    return "\n".join(lines) + "\n", list(dict.fromkeys(names)) or ["dist"]


def behind(head: str) -> Disguise:
    """Puts the code behind, or into the block of, `head`, which binds the names that torch's imports bound."""

    def disguised(code: str) -> str:
        rest, names = without_torch(code)
        first = head.format(names=", ".join(names))
        return f"{first}\n{textwrap.indent(rest, '    ')}" if first.endswith(":") else f"{first}\n{rest}"

    return disguised


def under(head: str) -> Disguise:
    """Puts the code, with its imports, into the block of `head`."""
    return lambda code: f"{head}\n{textwrap.indent(code, '    ')}"


def as_a_method(code: str) -> str:
    """Everything of torch belongs to `self`."""
    rest, names = without_torch(code)
    own = re.sub(rf"(?<![.\w])({'|'.join(names)})\b(?!\s*=[^=])", r"self.\1", rest)
    return f"class Comm:\n    def example(self):\n{textwrap.indent(own, '        ')}"


def as_a_docstring(code: str) -> str:
    quoted = code.replace("\\", "/").replace('"', "'")
    return f'"""{quoted}"""\n\nimport torch.distributed as dist\n'


def as_comments(code: str) -> str:
    return textwrap.indent(code, "# ", lambda line: True) + "\nimport torch.distributed as dist\n"


def on_gloo(code: str) -> str:
    return re.sub(r"nccl(-lazy)?", "gloo", code)


each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
OVER_TORCH = "a parameter over torch's module"
REAL = "import torch\nimport torch.distributed as dist\nfrom torch.distributed import isend, irecv, P2POp\n\n\n"
SHADOWED: dict[str, Disguise] = {
    "another library": lambda code: re.sub(r"\btorch\b", "comms", code),
    "another library under the same names": behind("from comms import {names}"),
    "another library in a function": behind("def example():\n  from comms import {names}\n  if True:"),
    "a parameter": behind("def example({names}):"),
    "a keyword parameter": behind("def example(*, {names}):"),
    OVER_TORCH: behind(REAL + "def example({names}):"),
    "a loop variable": behind("for {names} in candidates():"),
    "what a context manager gives": behind("with library() as ({names}):"),
    "own objects": behind("{names} = own()"),
    "attributes of an object": as_a_method,
}
GUARDED: dict[str, Disguise] = {
    "a version test": under(
        "import torch\nfrom packaging import version\n\nif version.parse(torch.__version__) < version.parse('2.13'):"
    ),
    "an own version constant": under("from own import TORCH_VERSION\n\nif TORCH_VERSION < (2, 13):"),
    "hasattr": under("import torch\n\nif not hasattr(torch.distributed, 'set_timeout'):"),
    "the other branch of hasattr": under("import torch\n\nif hasattr(torch.distributed, 'P2POp'):\n    pass\nelse:"),
    "an import that failed": under("try:\n    import newer\nexcept ImportError:"),
}
TEXT: dict[str, Disguise] = {"a docstring": as_a_docstring, "comments": as_comments}


@each_rule
def test_names_that_are_not_torchs_are_left_alone(rule: Rule, tmp_path: Path) -> None:
    allowed = dict.fromkeys(SHADOWED, SPEAKS_FOR_ITSELF) | {OVER_TORCH: SPEAKS_FOR_ITSELF | SPEAKS_BESIDE_TORCH}
    found = found_disguised(rule, tmp_path, SHADOWED)
    assert [(hidden, text) for hidden, text in found if text[0] not in allowed[hidden]] == []


@each_rule
def test_branches_for_other_releases_and_text_are_left_alone(rule: Rule, tmp_path: Path) -> None:
    assert found_disguised(rule, tmp_path, GUARDED | TEXT) == []


def found_disguised(rule: Rule, folder: Path, disguises: dict[str, Disguise]) -> list[tuple[str, tuple[str, str]]]:
    """What is found in each disguise of a rule's examples, each a project of its own."""
    found = []
    for number, (hidden, disguise) in enumerate(disguises.items()):
        project = folder / str(number)
        project.mkdir()
        found += [(hidden, text) for text in found_in(project, parts([disguise(text) for text in sources(rule)]))]
    return found


@each_rule
def test_a_project_on_gloo_is_not_told_about_nccl(rule: Rule, tmp_path: Path) -> None:
    # A backend that is an expression may be any; examples with one stay as they are.
    other = re.compile(r"init_process_group(?!\(\s*(?:backend=)?[\"'](?:cpu:)?gloo[\"'](?! if))")
    texts = [text for text in map(on_gloo, sources(rule)) if not other.search(text)]
    main = {"main.py": 'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'}
    found = found_in(tmp_path, {**parts(texts), **main})
    assert [text for text in found if text[0] not in ON_GLOO_TOO] == []


def test_the_default_group_of_a_program_on_gloo_is_not_nccls_although_another_program_of_the_project_uses_that(
    tmp_path: Path,
) -> None:
    thread = (
        "import threading\nimport torch.distributed as dist\n\n\ndef push(x):\n    dist.isend(x, 1)\n\n\n"
        "def start(x):\n    threading.Thread(target=push, args=(x,)).start()\n\n\n"
    )
    main = "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"
    found = {}
    for backend in ("gloo", "nccl"):
        files = {"main.py": main, "profile.py": f"{thread}dist.init_process_group('{backend}')\n"}
        found[backend] = [code for code, _ in found_in(tmp_path / backend, files)]
    assert "TL215" in found["nccl"] and "TL215" not in found["gloo"]


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.code not in NOT_IN_FUNCTIONS], ids=lambda rule: rule.code
)
def test_it_is_the_disguise_that_silences_a_rule(rule: Rule, tmp_path: Path) -> None:
    found = found_in(tmp_path, parts([under("def example():")(text) for text in sources(rule)]))
    assert rule.code in {code for code, _ in found}


OTHER_PROGRAMS = {
    "sockets": """
        import socket
        import torch.distributed as dist

        def echo(address, payload):
            with socket.create_connection(address) as connection:
                connection.send(payload)
                answer = connection.recv(4096)
                connection.sendall(answer)
            reader, writer = socket.socketpair()
            reader.recv(1)
            return answer
    """,
    "mpi4py": """
        from mpi4py import MPI
        import torch.distributed as dist

        comm = MPI.COMM_WORLD
        rank, size = comm.Get_rank(), comm.Get_size()
        sending = comm.isend({"a": 1}, dest=(rank + 1) % size)
        receiving = comm.irecv(source=(rank - 1) % size)
        comm.allreduce(rank)
        receiving.wait()
        sending.wait()
        if rank == 0:
            group = comm.group.Incl([0, 1])
            pair = comm.Create_group(group)
            comm.recv()
    """,
    "pipes and queues": """
        import multiprocessing
        import threading
        import torch.distributed as dist

        near, far = multiprocessing.Pipe()
        worker = threading.Thread(target=near.send, args=(1,))
        worker.start()
        far.recv()
        worker.join()
    """,
    "own communicator": """
        import torch
        import torch.distributed as dist

        class Communicator:
            def isend(self, tensor, peer): ...
            def irecv(self, tensor, peer): ...
            def batch_isend_irecv(self, operations): ...
            def new_group(self, ranks): ...
            def reduce_op(self): ...

            def ring(self, tensor, rank, size):
                sending = self.isend(tensor, (rank + 1) % size)
                receiving = self.irecv(tensor, (rank - 1) % size)
                sending.wait()
                receiving.wait()
                first, second = self.batch_isend_irecv([])
                if rank == 0:
                    self.new_group([0])
                return self.reduce_op()

        class Mock(Communicator):
            distributed = None

            def run(self):
                isend, irecv = self.isend, self.irecv
                isend(1, 2)
                irecv(1)
    """,
    "an own file called distributed": """
        from . import distributed as dist
        from .distributed import P2POp, batch_isend_irecv, new_group, reduce_op

        def exchange(tensor, rank):
            dist.init_process_group("nccl")
            requests = batch_isend_irecv([P2POp(dist.isend, tensor, 1)])
            requests[1].wait()
            if rank == 0:
                new_group([0, 1])
            dist.recv(tensor)
            dist.monitored_barrier()
            return dist.reduce_op.SUM, reduce_op.SUM
    """,
    "comprehensions, lambdas and handlers": """
        import torch.distributed as dist

        def all_of(libraries, tensor):
            handles = [dist.isend(tensor, 1) for dist in libraries]
            receive = lambda dist: dist.recv(tensor)
            try:
                pass
            except Exception as dist:
                dist.irecv(tensor)
            return handles, receive
    """,
    "a fallback": """
        try:
            import torch.distributed as dist
        except ImportError:
            dist = None
        try:
            from torch.distributed import all_gather_into_tensor
        except ImportError:
            from torch.distributed import _all_gather_base as all_gather_into_tensor
    """,
    "gloo only": """
        import torch
        import torch.distributed as dist

        def main(rank, size):
            dist.init_process_group("gloo", rank=rank, world_size=size)
            tensor = torch.zeros(4)
            if rank == 0:
                for _ in range(size - 1):
                    dist.recv(tensor)
            else:
                dist.send(tensor, 0)
            dist.all_reduce(tensor)
            dist.monitored_barrier()
            everyone = dist.new_group(list(range(size)), backend="gloo")
            dist.barrier(group=everyone)
    """,
    "a tidy program on NCCL": """
        import os

        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        def main():
            local_rank = int(os.environ["LOCAL_RANK"])
            device = torch.device("cuda", local_rank)
            torch.cuda.set_device(device)
            dist.init_process_group("nccl", device_id=device)
            rank, size = dist.get_rank(), dist.get_world_size()
            model = DistributedDataParallel(torch.nn.Linear(4, 4).to(device), device_ids=[local_rank])
            evens = dist.new_group([r for r in range(size) if r % 2 == 0])
            x, y = torch.ones(4, device=device), torch.empty(4, device=device)
            operations = [
                dist.P2POp(dist.isend, x, (rank + 1) % size),
                dist.P2POp(dist.irecv, y, (rank - 1) % size),
            ]
            for request in dist.batch_isend_irecv(operations):
                request.wait()
            if rank % 2 == 0:
                dist.all_reduce(y, group=evens)
            dist.barrier()
            dist.destroy_process_group()
            return model
    """,
}


@pytest.mark.parametrize("program", OTHER_PROGRAMS)
def test_a_program_that_only_looks_like_it_is_left_alone(program: str, tmp_path: Path) -> None:
    text = textwrap.dedent(OTHER_PROGRAMS[program]).lstrip()
    assert found_in(tmp_path, parts([text])) == []
