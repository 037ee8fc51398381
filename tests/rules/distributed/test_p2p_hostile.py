"""Point-to-point programs written to be misread, or to be changed by a fix that is called safe."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files

from torchlift.finding import Finding, Safety

HEAD = 'import torch\nimport torch.distributed as dist\n\n\ndef init():\n    dist.init_process_group("nccl")\n\n\n'
RANKS = (
    "    rank, world = dist.get_rank(), dist.get_world_size()\n"
    "    following, preceding = (rank + 1) % world, (rank - 1) % world\n"
    "    y = torch.zeros_like(x)\n"
)
CODES = frozenset({"TL210", "TL211", "TL212", "TL213", "TL217", "TL218", "TL222"})


def function(*lines: str, before: str = "", head: str = "def exchange(x):\n") -> str:
    return HEAD + before + head + RANKS + "".join(f"    {line}\n" for line in lines)


def method(*lines: str, members: str = "", after: str = "") -> str:
    body = RANKS + "".join(f"    {line}\n" for line in lines)
    inside = "    def exchange(self, x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return HEAD + "class Exchange:\n" + members + inside + "\n\n" + after


SEND, RECEIVE = "a = dist.isend(x, following)", "b = dist.irecv(y, preceding)"
RING = (SEND, RECEIVE, "a.wait()", "b.wait()", "return y")
ON_GROUP = (
    "a = dist.isend(x, following, group=g)",
    "b = dist.irecv(y, preceding, group=g)",
    "a.wait()",
    "b.wait()",
    "return y",
)


def by_order(test: str) -> tuple[str, ...]:
    """A ring in which each rank sends first or receives first, as `test` says."""
    return (
        f"if {test}:", "    a = dist.isend(x, following)", "    b = dist.irecv(y, preceding)",
        "else:", "    b = dist.irecv(y, preceding)", "    a = dist.isend(x, following)",
        "a.wait()", "b.wait()", "return y",
    )  # fmt: skip


def batch(*lines: str) -> str:
    return function(
        "s = dist.P2POp(dist.isend, x, following)", "r = dist.P2POp(dist.irecv, y, preceding)", *lines, "return y"
    )


def findings(folder: Path, code: str, **files: str) -> list[Finding]:
    result = analyse_files(
        folder, {"example.py": code, **{f"{name}.py": text for name, text in files.items()}}, codes=CODES
    )
    assert not result.failures
    return all_findings(result)


def codes(folder: Path, code: str, **files: str) -> set[str]:
    return {finding.code for finding in findings(folder, code, **files)}


def safe_fixes(folder: Path, code: str, **files: str) -> list[str]:
    found = findings(folder, code, **files)
    return [finding.code for finding in found if finding.fix is not None and finding.safety is Safety.SAFE]


def test_the_plain_ring_of_these_tests_hangs_and_has_a_safe_fix(tmp_path: Path) -> None:
    assert safe_fixes(tmp_path, function(*RING)) == ["TL210"]


OTHER_BACKENDS = {
    "gloo": 'dist.new_group(backend="gloo")',
    "the backend that the help recommends": 'dist.new_group(backend="nccl-lazy")',
    "the old engine, by position": 'dist.new_group(None, None, "nccl-legacy")',
    "a member of Backend": "dist.new_group(backend=dist.Backend.GLOO)",
    "one of several subgroups": 'dist.new_subgroups(group_size=world, backend="gloo")[0]',
}


@pytest.mark.parametrize("name", OTHER_BACKENDS)
def test_messages_of_a_group_on_another_backend_do_not_hang(name: str, tmp_path: Path) -> None:
    assert codes(tmp_path, function(f"g = {OTHER_BACKENDS[name]}", *ON_GROUP)) == set()


def test_a_group_on_gloo_is_recognised_where_it_is_made_elsewhere(tmp_path: Path) -> None:
    attribute = '    def __init__(self):\n        self.g = dist.new_group(backend="gloo")\n\n'
    assert codes(tmp_path, method(*(line.replace("=g", "=self.g") for line in ON_GROUP), members=attribute)) == set()
    constant = 'g = dist.new_group(backend="gloo")\n\n\n'
    assert codes(tmp_path, function(*ON_GROUP, before=constant)) == set()


@pytest.mark.parametrize(
    ("group", "found"),
    [("compiled_group", {"TL210"}), ("mpi_group", set()), ("glooGroup", set()), ("nccl_lazy_group", set())],
)
def test_a_group_from_outside_is_on_another_backend_if_a_whole_word_says_so(
    group: str, found: set[str], tmp_path: Path
) -> None:
    assert codes(tmp_path, method(*(line.replace("=g", f"=self.{group}") for line in ON_GROUP))) == found


def test_a_group_that_is_surely_on_nccl_still_hangs(tmp_path: Path) -> None:
    assert codes(tmp_path, function('g = dist.new_group(backend="nccl")', *ON_GROUP)) == {"TL210"}


def test_a_group_whose_backend_is_not_known_is_taken_for_nccl_and_the_finding_says_so(tmp_path: Path) -> None:
    code = function('g = dist.new_group(backend="gloo" if x.device.type == "cpu" else "nccl")', *ON_GROUP)
    (finding,) = findings(tmp_path, code)
    assert finding.safety is Safety.UNSAFE
    assert "is on NCCL" in (finding.help or "")


def test_what_else_goes_over_nccl_is_still_found_beside_a_group_on_gloo(tmp_path: Path) -> None:
    code = function(
        'g = dist.new_group(backend="gloo")', "with dist._coalescing_manager(group=g):", "    dist.all_reduce(x, group=g)",
        *RING,
    )  # fmt: skip
    assert codes(tmp_path, code) == {"TL210"}


def test_tensors_on_the_cpu_are_sent_by_gloo(tmp_path: Path) -> None:
    code = function("a = dist.isend(x.cpu(), following)", "z = y.cpu()", "b = dist.irecv(z, preceding)", *RING[2:])
    assert codes(tmp_path, code) == set()


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("dist.group.WORLD._start_coalescing(x.device)", "dist.group.WORLD._end_coalescing(x.device)"),
        ("pg._group_start()", "pg._group_end()"),
    ],
)
def test_operations_put_together_by_hand_are_not_reported_as_a_hang(begin: str, end: str, tmp_path: Path) -> None:
    code = function("pg = dist.group.WORLD._get_backend(x.device)", begin, SEND, RECEIVE, end, *RING[2:])
    assert codes(tmp_path, code) <= {"TL212"}


def test_an_order_that_a_subclass_or_other_code_decides_is_not_known(tmp_path: Path) -> None:
    ring = by_order("self.first")
    constant = "    first = True\n\n"
    constructor = "    def __init__(self):\n        self.first = True\n\n"
    parity = "dist.get_rank() % 2 == 0"
    assert codes(tmp_path, method(*ring, members=constant)) == {"TL210"}
    assert codes(tmp_path, method(*ring, members=constructor)) == {"TL210"}
    below = f"class Below(Exchange):\n    first = {parity}\n"
    assert codes(tmp_path, method(*ring, members=constant, after=below)) == {"TL212"}
    below = f"class Below(Exchange):\n    @property\n    def first(self):\n        return {parity}\n"
    assert codes(tmp_path, method(*ring, members=constant, after=below)) == {"TL212"}
    below = (
        f"class Below(Exchange):\n    def __init__(self):\n        super().__init__()\n        self.first = {parity}\n"
    )
    assert codes(tmp_path, method(*ring, members=constructor, after=below)) == {"TL212"}
    maker = f"def make():\n    made = Exchange()\n    made.first = {parity}\n    return made\n"
    assert codes(tmp_path, method(*ring, members=constructor, after=maker)) == {"TL212"}


def test_a_function_under_a_decorator_that_may_do_anything_is_not_fixed_as_safe(tmp_path: Path) -> None:
    code = function(*RING, before="from timing import timed\n\n\n@timed\n")
    (finding,) = findings(tmp_path, code)
    assert finding.code == "TL210"
    assert finding.safety is Safety.UNSAFE
    assert "decorated with `timed`" in (finding.help or "")
    assert safe_fixes(tmp_path, function(*RING, before="@torch.no_grad()\n")) == ["TL210"]


MORE_COMMUNICATION = (
    "c = dist.irecv(y, preceding)", "a = dist.isend(x, following)", "z = torch.zeros_like(x)",
    "b = dist.irecv(z, preceding)", "c.wait()", "a.wait()", "push(x, following)", "b.wait()", "return y, z",
)  # fmt: skip


def test_a_batch_is_not_safe_where_its_messages_may_be_met_by_a_helper(tmp_path: Path) -> None:
    batched = "def push(t, to):\n    for r in dist.batch_isend_irecv([dist.P2POp(dist.isend, t, to)]):\n        r.wait()\n\n\n"
    assert safe_fixes(tmp_path, function(*MORE_COMMUNICATION, before=batched)) == []
    pushing = "import torch.distributed as dist\n\n\ndef push(t, to):\n    dist.isend(t, to).wait()\n"
    code = function(*MORE_COMMUNICATION, before="from pushing import push\n\n\n")
    assert safe_fixes(tmp_path, code, pushing=pushing) == []


def test_a_batch_is_not_safe_where_some_ranks_have_nothing_to_post(tmp_path: Path) -> None:
    code = function(
        "requests = []", "if rank < 2:", "    requests.append(dist.isend(x, 1 - rank))",
        "    requests.append(dist.irecv(y, 1 - rank))", "for request in requests:", "    request.wait()", "return y",
    )  # fmt: skip
    assert codes(tmp_path, code) == {"TL222"}
    assert safe_fixes(tmp_path, code) == []


NOT_SAFE = {
    "a generator is left between the waits": (SEND, RECEIVE, "a.wait()", "yield x", "b.wait()", "yield y"),
    "the names of the function are looked at": (*RING[:4], "return sorted(locals())"),
    "a key function changes the tensor": (SEND, "sorted([x], key=lambda t: t.zero_().sum())", *RING[1:]),
    "the output is hidden in a dict": (SEND, 'torch.mul(x, 2, **{"out": x})', *RING[1:]),
    "a module is converted in place": (SEND, "net.half()", *RING[1:]),
    "something is waited for": (SEND, "y = queue.get()", *RING[1:]),
    "a default value changes the tensor": (SEND, "def later(v=x.zero_()): ...", *RING[1:]),
    "a decorator runs at once": (SEND, "@run", "def now(): ...", *RING[1:]),
    "another name for the tensor": ("v = x", SEND, "b = dist.irecv(v, preceding)", *RING[2:]),
    "a view of the tensor": (SEND, "b = dist.irecv(x.view(-1), preceding)", *RING[2:]),
    "overlapping parts": ("a = dist.isend(x[:2], following)", "b = dist.irecv(x[1:], preceding)", *RING[2:]),
    "an element of a flat view": (
        "a = dist.isend(x.view(-1)[3], following)",
        "b = dist.irecv(x[1], preceding)",
        *RING[2:],
    ),
}


@pytest.mark.parametrize("name", NOT_SAFE)
def test_a_ring_is_not_batched_as_safe_if(name: str, tmp_path: Path) -> None:
    code = function(*NOT_SAFE[name], before="from elsewhere import net, queue, run\n\n\n")
    assert codes(tmp_path, code) == {"TL210"}
    assert safe_fixes(tmp_path, code) == []


@pytest.mark.parametrize(("sent", "received"), [("x[0]", "x[1]"), ("x[:, -1]", "x[:, -2]"), ("x[1, 2:]", "x[2, 1:]")])
def test_parts_that_cannot_overlap_are_batched_as_safe(sent: str, received: str, tmp_path: Path) -> None:
    code = function(f"a = dist.isend({sent}, following)", f"b = dist.irecv({received}, preceding)", *RING[2:])
    assert safe_fixes(tmp_path, code) == ["TL210"]


def test_requests_by_position_are_left_alone_where_the_old_code_fails_or_looks_at_its_names(tmp_path: Path) -> None:
    made = "requests = dist.batch_isend_irecv(ops)"
    waits = ("requests[0].wait()", "requests[1].wait()")
    assert safe_fixes(tmp_path, batch("ops = [s, r]", made, *waits)) == ["TL217"]
    assert safe_fixes(tmp_path, batch("ops = [s, r]", made, "requests[2].wait()", waits[1])) == []
    assert safe_fixes(tmp_path, batch("ops = [s]", made, "ops.append(r)", *waits)) == []
    assert safe_fixes(tmp_path, batch("ops = [s, r]", made, *waits, "print(locals())")) == []


@pytest.mark.parametrize(
    "tests",
    [("rank % 2 == 0", "rank % 2"), ("rank % 2", "rank % 2 == 0"), ("even", "not even"), ("even", "odd")],
)
def test_a_batch_is_not_empty_if_one_of_two_tests_holds(tests: tuple[str, str], tmp_path: Path) -> None:
    code = function(
        "even = rank % 2 == 0", "odd = not even", "ops = []", f"if {tests[0]}:",
        "    ops.append(dist.P2POp(dist.isend, x, following))", f"if {tests[1]}:",
        "    ops.append(dist.P2POp(dist.irecv, y, preceding))", "for request in dist.batch_isend_irecv(ops):",
        "    request.wait()",
    )  # fmt: skip
    assert "TL218" not in codes(tmp_path, code)


@pytest.mark.parametrize(
    "value", ["k or settings.DEFAULT", "settings.DEFAULT or settings.OTHER", "k and len and settings.DEFAULT"]
)
def test_a_choice_that_ends_with_a_name_of_another_module_is_read_on(value: str, tmp_path: Path) -> None:
    code = function(f"n = {value}", *RING, before="import settings\n\n\n", head="def exchange(x, k):\n")
    assert codes(tmp_path, code) == {"TL210"}
