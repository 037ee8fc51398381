"""What the options of `torchlift record` do to the file, and that the same run gives the same file."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from torchlift.evidence.file import evidence_text, read_evidence
from torchlift.evidence.records import RecordedEvidence

_PROGRAM = """\
import sys
import torch

def work(rows, name):
    torch.manual_seed(0)
    made = torch.jit.script(Net())
    made(torch.arange(rows * 2.0).reshape(rows, 2), name)
    if name != "a":
        made.save("private.pt")  # in one process: a file that several write at a time is read half written
    if rows > 3:
        made(torch.full((rows, 2), 0.54321), name=name)
    try:
        torch.jit.trace(lambda x: refuse(name), torch.ones(1))
    except ValueError:
        pass

def refuse(name):
    raise ValueError(f"{name} of {object()} in /home/somebody/{name}/it.py")

class Net(torch.nn.Module):
    def forward(self, x, name: str = "plain"):
        return x + 1 if name == "secret" else x * 2

if __name__ == "__main__":
    if len(sys.argv) > 3:
        import multiprocessing
        for rows in (2, 3):
            multiprocessing.get_context("fork").Process(target=work, args=(rows, "a")).start()
    work(int(sys.argv[1]), sys.argv[2])
"""


def recorded(folder: Path, output: str, *words: str, options: tuple[str, ...] = ("--no-prove",)) -> RecordedEvidence:
    (folder / "main.py").write_text(_PROGRAM)
    line = [sys.executable, "-I", "-m", "torchlift", "record", *options, "-o", output, "--"]
    done = subprocess.run(
        [*line, sys.executable, "main.py", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return read_evidence(folder / output)


def calls(evidence: RecordedEvidence) -> list[tuple[list[object], dict[str, object], int]]:
    return [(call.args, call.kwargs, call.count) for site in evidence.sites for v in site.values for call in v.calls]


def test_runs_are_added_redacted_and_their_inputs_kept_as_asked(tmp_path: Path) -> None:
    first = recorded(tmp_path, "a.json", "2", "plain")
    assert calls(first) == [(["float32[2,2]", {"str": "plain"}], {}, 1)]
    (failed,) = [site.failed[0] for site in first.sites if site.failed]
    assert failed.message == "plain of <object object at 0x...> in .../it.py"
    assert [one.path for s in first.sites for v in s.values for one in v.wrote] == ["private.pt"]

    more = ("--no-prove", "--append", "--redact", "--keep-inputs", "kept")
    both = recorded(tmp_path, "a.json", "4", "secret", options=more)
    assert [site.hits for site in both.sites] == [2, 2]
    added = [call for call in calls(both) if call not in calls(first)]
    assert added == [
        (["float32[4,2]"], {"name": {"str": 6}}, 1),
        (["float32[4,2]", {"str": 6}], {}, 1),
    ]
    assert all(call in calls(both) for call in calls(first))
    (further,) = both.further
    text = (tmp_path / "a.json").read_text()
    assert "secret" not in text and all(word.startswith("sha256:") for word in further.command)
    assert text.count("private.pt") == 1 and '"path": "sha256:' in text

    kept = {}
    for path in (tmp_path / "kept").iterdir():
        data = path.read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + size])
        assert (header["input0"]["dtype"], header["input0"]["shape"]) == ("F32", [4, 2])
        begin, end = header["input0"]["data_offsets"]
        kept[header["__metadata__"]["kwargs"]] = struct.unpack("<8f", data[8 + size :][begin:end])
    assert kept["{}"] == tuple(map(float, range(8)))
    assert [round(number, 5) for number in kept['{"name": {"str": "secret"}}']] == [0.54321] * 8


@pytest.mark.parametrize(
    "options",
    [("--no-prove",), pytest.param((), marks=pytest.mark.exhaustive)],
    ids=["recorded", "proved"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the program forks")
def test_the_same_run_gives_the_same_file(options: tuple[str, ...], tmp_path: Path) -> None:
    """Also where several processes tell at once; when it ran, and how long proofs took, is written where it is asked for."""
    recorded(tmp_path, "a.json", "4", "plain", "forked", options=options)
    timed = recorded(tmp_path, "b.json", "4", "plain", "forked", options=(*options, "--times"))
    first = (tmp_path / "a.json").read_bytes()
    assert timed.recorded_at and (tmp_path / "b.json").read_bytes() != first
    timed.recorded_at = ""
    proofs = [value.proof for site in timed.sites for value in site.values if value.proof is not None]
    assert any(proof.seconds for proof in proofs) == bool(proofs)
    for proof in proofs:
        proof.seconds = 0.0
    assert evidence_text(timed).encode() == first
