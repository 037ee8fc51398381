"""The table of error messages, and what is found in texts and logs."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.errors import lines
from torchlift.doctor.errors.first_cause import Assessment, first_cause
from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.errors.lines import UnreadableText, chunks_of
from torchlift.doctor.errors.matching import expression, words
from torchlift.doctor.errors.page import contents
from torchlift.doctor.errors.table import KNOWN, SUBJECTS

if sys.version_info >= (3, 11):
    from re import _constants as constants
    from re import _parser as parser
else:
    import sre_constants as constants
    import sre_parse as parser

ROOT = Path(__file__).parents[2]
TEXTS = Path(__file__).with_name("error_texts")
BY_ID = {row.id: row for row in KNOWN}


def found(text: str | bytes) -> Assessment:
    return first_cause(chunks_of(io.BytesIO(text.encode() if isinstance(text, str) else text)))


def answer(text: str | bytes) -> str:
    """The id of the answer, "unknown" where there is none."""
    finding = found(text)
    return "unknown" if finding.verdict == "unknown" or finding.first is None else finding.first.row.id


def listed(name: str) -> list[tuple[str, str]]:
    """Texts of a file, each below a line `== id` or `== id: where it is from`."""
    parts = re.split(r"^== (.+)\n", (TEXTS / name).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [
        (head.partition(":")[0].strip(), text.strip("\n")) for head, text in zip(parts[::2], parts[1::2], strict=True)
    ]


def misunderstood(asked: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """The texts with another answer than the id beside them."""
    return [(id, got, text) for id, text in asked if (got := answer(text)) != id]


each_subject = pytest.mark.parametrize("rows", SUBJECTS.values(), ids=SUBJECTS)


# The table


def test_every_row_has_a_name_of_its_own_a_source_with_a_date_and_a_text() -> None:
    assert len(BY_ID) == len(KNOWN) >= 80
    for row in KNOWN:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row.id), row.id
        assert row.says and row.sources, row.id
        assert all(re.search(r"\d{4}-\d\d-\d\d", source) for source in row.sources), (row.id, row.sources)
        for sentence in (row.cause, row.remedy):
            assert not sentence.endswith("."), (row.id, sentence)
        assert row.command is None or "..." not in row.command, f"{row.id}: the command cannot be pasted"


def test_every_check_that_a_row_names_exists() -> None:
    ids = {check.id for check in all_checks()}
    assert [(row.id, id) for row in KNOWN for id in row.checks if id not in ids] == []


@each_subject
def test_each_text_of_a_row_is_answered_by_that_row(rows: tuple[KnownError, ...]) -> None:
    assert misunderstood((row.id, text) for row in rows if not row.smokes_only for text in row.says) == []


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs/errors.md").read_text(encoding="utf-8") == contents(), (
        "run: python -m torchlift.doctor.errors.page > docs/errors.md"
    )


def unbounded(pattern: str) -> Iterator[str]:
    """Repetitions without an end, anywhere in a pattern."""

    def walk(node: object) -> Iterator[str]:
        if isinstance(node, parser.SubPattern):
            for operator, argument in node:
                if operator in (constants.MAX_REPEAT, constants.MIN_REPEAT) and argument[1] is constants.MAXREPEAT:
                    yield str(operator)
                yield from walk(argument)
        elif isinstance(node, (tuple, list)):
            for part in node:
                yield from walk(part)

    yield from walk(parser.parse(pattern))


@each_subject
def test_a_pattern_takes_linear_time(rows: tuple[KnownError, ...]) -> None:
    for row in rows:
        compiled = expression(row)
        assert list(unbounded(compiled.pattern)) == [], row.id
        seed = row.says[0]
        for text in (seed[:-1] * 400, seed[: len(seed) // 2] * 400, " " * 40_000, f"{seed[:20]}{' ' * 40_000}"):
            begun = time.process_time()
            compiled.search(text)
            assert time.process_time() - begun < 2, row.id


def test_every_alternative_of_a_pattern_has_a_word_by_which_logs_are_sieved() -> None:
    assert [row.id for row in KNOWN for letters in words(row.pattern) if not letters] == []


# Texts


@pytest.mark.parametrize("name", sorted(path.name for path in TEXTS.iterdir()))
def test_messages_of_threads_are_answered_in_the_wordings_of_several_releases_and_others_are_not(name: str) -> None:
    """Frequent ones, general ones, and those that were drawn blindly: bench/RESULTS.md says how many were known then."""
    asked = listed(name)
    assert asked and misunderstood(asked) == []
    assert name != "others.txt" or {id for id, _ in asked} == {"unknown"}  # no matter of the machine


def test_a_line_has_one_cause() -> None:
    gloo = found(
        "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error"
    )
    killed = found("RuntimeError: DataLoader worker (pid 1620) is killed by signal: Killed.")
    assert gloo.others == killed.others == ()


# Logs


def test_the_first_cause_is_found_among_ranks_that_write_at_once() -> None:
    log = """\
W0501 12:00:00.000000 100 torch/distributed/run.py:793] *****************************************
[rank1]: Traceback (most recent call last):
[rank3]: Traceback (most recent call last):
[rank1]:   File "train.py", line 10, in <module>
[rank3]:   File "train.py", line 10, in <module>
[rank1]:     raise torch.OutOfMemoryError("no CUDA out of memory here, this is code")
[rank3]:     x = y.cuda()
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
[rank1]:[E501 12:10:00.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8)
host:1:2 [0] NCCL INFO init.cc:903 -> 5
host:1:2 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer node1<57557>
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
[0]:
  exitcode  : 1 (pid: 14750)
"""
    finding = found(log)
    assert finding.first is not None
    assert (finding.first.row.id, finding.first.place.line, finding.first.place.rank) == ("out-of-memory", 8, 3)
    assert [each.row.id for each in finding.others] == ["collective-timeout", "nccl-remote-error", "worker-failed"]
    assert finding.unexplained == ()


def test_what_only_says_that_something_failed_gives_way_to_what_says_why() -> None:
    log = "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'\n"
    assert answer(log) == "out-of-memory"
    assert answer("ncclUnhandledCudaError: Call to CUDA function failed.") == "nccl-cuda-error"


def test_the_first_of_a_chain_of_exceptions_is_the_cause() -> None:
    log = """\
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    import flash_attn_2_cuda
ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "b.py", line 1, in <module>
    raise RuntimeError("Recognised no NVIDIA driver on your system") from None
    ^^^^^^^^^^^^^^
RuntimeError: Failed to import transformers because of the following error (look up to see its traceback)
"""
    finding = found(log)
    assert finding.first is not None and (finding.first.row.id, finding.first.place.line) == ("extension-abi", 4)
    assert [place.line for place in finding.unexplained] == [12]


def test_an_exception_that_is_not_known_is_not_explained_by_what_follows_from_it() -> None:
    log = "KeyError: 'label'\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    finding = found(log)
    assert finding.verdict == "unknown" and [place.text for place in finding.unexplained] == ["KeyError: 'label'"]
    assert finding.first is not None and finding.first.row.id == "worker-failed"


def test_a_remark_is_no_cause_of_an_exception() -> None:
    remark = "UserWarning: 1Torch was not compiled with flash attention. (Triggered internally at sdp_utils.cpp:263.)\n"
    assert found(remark).verdict == "warning"
    assert found(remark + "ValueError: too many values to unpack\n").verdict == "unknown"


@pytest.mark.parametrize(
    "log",
    [
        "\x1b[31mRuntimeError\x1b[0m: CUDA error: \x1b[1mno kernel image\x1b[0m is available for execution on the device",
        "2026-05-01T12:00:00.1234567Z RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "[1,3]<stderr>:RuntimeError: CUDA error: no kernel image is available for\n[1,3]<stderr>:execution on the device",
        "Oct 04 15:02:41 llm forge[394]: RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "\u2502 RuntimeError: CUDA error: no kernel image is available for execution on   \u2502\n\u2502 the device    \u2502",
        "10%|#   | 1/10\r20%|##  | 2/10\rRuntimeError: CUDA error: no kernel image is available for execution on the device",
    ],
    ids=["colours", "time stamps", "mpirun, wrapped", "the journal", "a box", "progress bars"],
)
def test_what_launchers_and_terminals_add_is_read_through(log: str) -> None:
    assert answer(log) == "no-kernel-image"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_texts_in_other_encodings_are_read(encoding: str) -> None:
    assert answer("b\u00e9\nRuntimeError: No CUDA GPUs are available\n".encode(encoding)) == "no-gpus"


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"\x7fELF\x02\x01\x01\0\0\0\0\0", "binary"), (b"\x1f\x8b\x08\0", "gzip"), (bytes(range(256)) * 64, "binary")],
    ids=["a program", "gzip", "noise"],
)
def test_what_is_no_text_is_said_to_be_none(data: bytes, says: str) -> None:
    with pytest.raises(UnreadableText, match=says):
        found(data)


def test_a_message_across_the_end_of_a_chunk_is_found_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    end = 1 << 13
    monkeypatch.setattr(lines, "_SIZE", end)
    for size in range(end - 40, end + 10, 8):
        finding = found("x" * size + "\nRuntimeError: No CUDA GPUs are available\n")
        assert finding.first is not None and (finding.first.row.id, finding.first.place.line) == ("no-gpus", 2)
    finding = found("x" * (end - 20) + " RuntimeError: No CUDA GPUs are available " + "y" * 100_000)
    assert finding.first is not None and (finding.first.place.line, len(finding.first.place.text) < 500) == (1, True)


def test_a_large_log_is_read_in_little_memory_and_time() -> None:
    import tracemalloc

    line = (
        b"[rank3]: 2026-05-01 12:00:00,123 INFO step 1234 loss 0.1234 memory 12 GiB on the device, not available yet\n"
    )
    size = 14 << 20

    class Log(io.RawIOBase):
        left = size

        def read(self, number: int = -1) -> bytes:
            number = min(number, self.left)
            self.left -= number
            return (line * (number // len(line) + 1))[:number]

    tracemalloc.start()
    begun = time.process_time()
    finding = first_cause(chunks_of(Log()))  # type: ignore[arg-type]
    seconds, peak = time.process_time() - begun, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert finding.lines > 120_000 and finding.verdict == "unknown"
    assert peak < size and seconds < 20, (peak, seconds)
