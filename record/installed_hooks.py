"""`--install`: the hooks in the environment of the command's Python, for programs that reset their environment variables.

A `.pth` file is read at the start of every Python of that environment. Its line asks whether the recorder still runs, by the
lock it holds; if not, it removes the file. So a recorder that was killed leaves nothing that does more than that once.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from torchlift.at_start import STARTUP, with_room

_NAME = "torchlift_record.pth"
_ASK = "import json, sysconfig; print(json.dumps(sysconfig.get_paths()['purelib']))"


class NotInstalled(Exception):
    """The hooks cannot be put there; the text is a sentence."""


@contextlib.contextmanager
def hooks_installed(
    command: Sequence[str], spool: Path, variables: Mapping[str, str], environment: Mapping[str, str] | None
) -> Iterator[None]:
    """While this lasts, every Python below this process that is of the command's environment has the hooks.

    Args:
        command: its first word says which environment.
        spool: the folder of the run.
        variables: what the hooks read.
        environment: of the command; None for that of this process.

    Raises:
        NotInstalled: that environment cannot be found or written.
    """
    path = _site_packages(_python_of(command, environment)) / _NAME
    try:
        path.write_text(_line(path, spool, variables), encoding="utf-8")
    except OSError as error:
        raise NotInstalled(f"--install cannot write {path}: {error.strerror or error}.") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _python_of(command: Sequence[str], environment: Mapping[str, str] | None) -> str:
    """The interpreter that a command runs under: itself, or the one in the first line of a script."""
    search = (os.environ if environment is None else environment).get("PATH")
    program = shutil.which(command[0], path=search)
    if program is None:
        raise NotInstalled(f"The command {command[0]!r} is not there, so --install does not know its Python.")
    if Path(program).name.startswith(("python", "pypy")):
        return program
    with contextlib.suppress(OSError), Path(program).open("rb") as file:
        first = file.readline(500).decode("utf-8", "replace")
        if first.startswith("#!") and "python" in first:
            words = first[2:].split()
            named = words[1] if words[0].endswith("/env") and len(words) > 1 else words[0]
            return shutil.which(named, path=search) or named
    return shutil.which("python", path=search) or sys.executable


def _site_packages(python: str) -> Path:
    try:
        done = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, text=True, check=True, timeout=60)
        return Path(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise NotInstalled(f"--install asked {python} where its packages are, and got no answer: {error}.") from None


def _line(pth: Path, spool: Path, variables: Mapping[str, str]) -> str:
    hooks = Path(__file__).parent / "hooks"
    attach = str(hooks / "attach.py")
    facts = {
        "pth": str(pth),
        "owner": str(spool / "owner"),
        "process": os.getpid(),
        "startup": STARTUP,
        "variables": {**variables, **with_room({}, "_torchlift_record", str(hooks))},
    }
    run = f"exec(compile(open({attach!r}, encoding='utf-8').read(), {attach!r}, 'exec'), {{'FACTS': {facts!r}}})"
    # One line that begins with `import`, as `site` wants it.
    return f"import os; os.path.exists({attach!r}) and {run}\n"
