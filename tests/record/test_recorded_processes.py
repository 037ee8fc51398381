"""Processes of a recorded command: which are seen, and what they may do without noticing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from torchlift.evidence.file import read_evidence, write_evidence
from torchlift.evidence.records import RecordedEvidence

# Isolated: what a test gives the command is not for the recorder.
RECORD = [sys.executable, "-I", "-m", "torchlift", "record", "--no-prove", "-o", "evidence.json"]
_NET = """
    import torch


    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2 + 1


    def work(rows):
        value = torch.jit.script(Net())
        value(torch.ones(rows, 2))
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))


def recorded(
    folder: Path, *command: str, **environment: str
) -> tuple[subprocess.CompletedProcess[str], RecordedEvidence]:
    done = subprocess.run(
        [*RECORD, "--", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return done, read_evidence(folder / "evidence.json")


def rows_seen(evidence: RecordedEvidence) -> set[str]:
    return {call.args[0] for site in evidence.sites for value in site.values for call in value.calls}


def test_a_command_without_torch_is_told_loudly(tmp_path: Path) -> None:
    done, evidence = recorded(tmp_path, sys.executable, "-c", "print('hello'); raise SystemExit(3)")
    assert (done.returncode, done.stdout) == (3, "hello\n")
    assert "0 processes with torch were seen" in done.stderr
    assert (evidence.processes, evidence.with_torch, evidence.exit) == (1, 0, 3)
    assert [problem.what for problem in evidence.problems] == ["0 processes with torch were seen"]


def test_a_command_without_torch_does_not_take_the_place_of_an_earlier_recording(tmp_path: Path) -> None:
    write_evidence(tmp_path / "evidence.json", RecordedEvidence(command=["earlier"], with_torch=1))
    done, evidence = recorded(tmp_path, sys.executable, "-c", "print('hello')")
    assert evidence.command == ["earlier"]
    assert done.stderr.rstrip().endswith("It is from an earlier run and stays as it was.")


def test_the_sitecustomize_of_the_user_still_runs_and_fails_as_it_would(tmp_path: Path) -> None:
    write(
        tmp_path,
        sitecustomize="import sys; print('mine', [p for p in sys.path if 'startup' in p]); raise ValueError('oops')",
    )
    command = [sys.executable, "-c", "print('on')"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    plain = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    done, _ = recorded(tmp_path, *command, PYTHONPATH=str(tmp_path))
    assert done.stdout == plain.stdout == "mine []\non\n"
    assert "oops" in plain.stderr
    assert done.stderr.startswith(plain.stderr)


def test_a_program_that_does_not_exist_is_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run([*RECORD, "--", "no-such-program"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'no-such-program' cannot be started" in done.stderr and "Traceback" not in done.stderr


def test_a_command_that_a_signal_ends_gives_the_status_that_a_shell_gives(tmp_path: Path) -> None:
    done, evidence = recorded(tmp_path, sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 137
    assert evidence.exit is None


def test_options_of_the_command_are_its_own(tmp_path: Path) -> None:
    done = subprocess.run(
        [*RECORD, sys.executable, "-c", "import sys; print(sys.argv)", "-h", "--redact"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "['-c', '-h', '--redact']\n"


def test_ctrl_c_and_a_request_to_end_are_the_commands_to_answer(tmp_path: Path) -> None:
    write(
        tmp_path,
        main="""
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: (print("asked"), sys.exit(5)))
        print("ready", flush=True)
        time.sleep(60)
        """,
    )
    process = subprocess.Popen(
        [*RECORD, "--", sys.executable, "main.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == ("asked\n", 5)
    assert read_evidence(tmp_path / "evidence.json").exit == 5


def test_a_recorder_that_is_killed_leaves_the_command_and_the_old_file_alone(tmp_path: Path) -> None:
    (tmp_path / "evidence.json").write_text("old")
    write(
        tmp_path,
        main="""
        import pathlib, time
        print("ready", flush=True)
        time.sleep(1)
        pathlib.Path("result").write_text("done")
        """,
    )
    process = subprocess.Popen(
        [*RECORD, "--", sys.executable, "main.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    until = time.monotonic() + 60
    while not (tmp_path / "result").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert (tmp_path / "result").exists()
    assert (tmp_path / "evidence.json").read_text() == "old"


@pytest.mark.exhaustive
def test_spawned_forked_and_started_processes_are_seen(tmp_path: Path) -> None:
    write(
        tmp_path,
        net=_NET,
        main="""
        import multiprocessing, os, subprocess, sys
        from net import work, Net, torch

        if __name__ == "__main__":
            work(1)
            kept = torch.jit.script(Net())
            for rows, method in enumerate(("spawn", "fork"), 2):
                process = multiprocessing.get_context(method).Process(target=work, args=(rows,))
                process.start()
                process.join()
            if os.fork() == 0:
                for _ in range(5):
                    kept(torch.ones(4, 2))
                os._exit(0)
            os.wait()
            subprocess.run([sys.executable, "-c", "import net; net.work(5)"], check=True)
            subprocess.run([sys.executable, "-c", "pass"], check=True)
        """,
    )
    done, evidence = recorded(tmp_path, sys.executable, "main.py")
    assert done.returncode == 0, done.stderr
    assert rows_seen(evidence) == {f"float32[{rows},2]" for rows in range(1, 6)}
    assert evidence.with_torch == 5
    assert evidence.processes > evidence.with_torch
    # Counts are told at powers of two: a process that ends with `os._exit` loses the rest.
    assert [
        call.count for site in evidence.sites for value in site.values for call in value.calls if "4" in call.args[0]
    ] == [4]


@pytest.mark.exhaustive
def test_workers_of_xdist_are_seen_with_their_tests(tmp_path: Path) -> None:
    write(
        tmp_path,
        net=_NET,
        test_net="""
        import net, pytest

        @pytest.mark.parametrize("rows", [1, 2, 3])
        def test_work(rows):
            net.work(rows)
        """,
    )
    done, evidence = recorded(
        tmp_path, sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "test_net.py"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (site,) = evidence.sites
    assert site.hits == 3
    assert set(site.tests) == {f"test_net.py::test_work[{rows}]" for rows in (1, 2, 3)}
    assert {call.tests[0] for value in site.values for call in value.calls} == set(site.tests)


@pytest.mark.exhaustive
def test_ranks_of_torchrun_tell_what_they_send_and_to_whom(tmp_path: Path) -> None:
    write(
        tmp_path,
        ring="""
        import os, torch
        import torch.distributed as dist

        dist.init_process_group("gloo")
        rank, world = dist.get_rank(), dist.get_world_size()
        mine, other = torch.full((3,), float(rank)), torch.zeros(3)
        work = dist.isend(mine, (rank + 1) % world)
        dist.recv(other, (rank - 1) % world)
        work.wait()
        pair = [dist.P2POp(dist.isend, mine, 1 - rank), dist.P2POp(dist.irecv, other, 1 - rank)]
        for request in dist.batch_isend_irecv(pair):
            request.wait()
        group = dist.new_group([0, 1])
        dist.all_reduce(mine, group=group)
        os.write(1, f"sum {mine.tolist()}\\n".encode())  # in one piece: two ranks write to one stream
        dist.destroy_process_group()
        """,
    )
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ring.py")
    done, evidence = recorded(tmp_path, sys.executable, *launch)
    assert done.stdout.count("sum [1.0, 1.0, 1.0]") == 2, done.stderr
    (job,) = evidence.distributed
    assert (job.world, job.backend, job.device, job.destroyed, job.site) == (2, "gloo", "cpu", True, "ring.py:5:1")
    first = [(transfer.api, transfer.peer, transfer.tensor) for transfer in job.sequence if transfer.rank == 0]
    assert first == [
        ("isend", 1, "float32[3]"),
        ("recv", 1, "float32[3]"),
        ("batch_isend_irecv", None, None),
        ("isend", 1, "float32[3]"),
        ("irecv", 1, "float32[3]"),
        ("new_group", None, None),
        ("all_reduce", None, "float32[3]"),
        ("destroy_process_group", None, None),
    ]


@pytest.mark.exhaustive
def test_torchscript_that_is_switched_off_is_told(tmp_path: Path) -> None:
    write(tmp_path, net=_NET, main="import net; net.work(2)")
    done, evidence = recorded(tmp_path, sys.executable, "main.py", PYTORCH_JIT="0")
    assert done.returncode == 0, done.stderr
    assert evidence.sites == []
    assert "PYTORCH_JIT=0" in evidence.problems[0].what


@pytest.mark.exhaustive
@pytest.mark.parametrize("ending", ["done", "killed"])
def test_install_reaches_programs_without_environment_and_leaves_nothing(ending: str, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    packages = next((environment / "lib").glob("python*/site-packages"))
    import torch

    (packages / "all.pth").write_text(str(Path(torch.__file__).parents[1]))
    python = str(environment / "bin" / "python")
    write(
        tmp_path,
        net=_NET,
        main=f"""
        import os, subprocess, sys
        subprocess.run([{python!r}, "-c", "import sys; sys.path.insert(0, '.'); import net; net.work(6)"], env={{}}, check=True)
        print("worked", flush=True)
        {"import time; time.sleep(60)" if ending == "killed" else ""}
        """,
    )
    command = [*RECORD, "--install", "--", python, "main.py"]
    pth = packages / "torchlift_record.pth"
    if ending == "done":
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stdout == "worked\n", done.stderr
        assert rows_seen(read_evidence(tmp_path / "evidence.json")) == {"float32[6,2]"}
    else:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "worked\n"
        process.kill()
        process.wait()
        process.stdout.close()
        assert pth.exists()
        os.killpg(process.pid, signal.SIGKILL)
        again = subprocess.run([python, "-c", "print(1)"], capture_output=True, text=True, check=True)
        assert (again.stdout, again.stderr) == ("1\n", "")
    assert not pth.exists()
