"""Make a release ready: build it, open what was built, install it, and say what is left for a maintainer to do.

    pip install '.[release]' && python scripts/release.py 0.2.0

`__version__` and the first heading of CHANGELOG.md have to say the version first; nothing is tagged or uploaded here.
Exit status: 0 all is well, 1 something is not, in a sentence.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]


class NotReady(Exception):
    """What keeps the release; a sentence."""


def changes_of(version: str, changelog: str) -> str:
    """What the changelog says about a version.

    Raises:
        NotReady: it is not the first there, has no date, or nothing stands below it.
    """
    headings = list(re.finditer(r"^## (\S+)(?: \((.*)\))?$", changelog, re.MULTILINE))
    if not headings or headings[0][1] != version:
        raise NotReady(f"The first heading of CHANGELOG.md is not about {version}.")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", headings[0][2] or ""):
        raise NotReady(f"CHANGELOG.md gives {version} no date: write `## {version} (YYYY-MM-DD)`.")
    end = headings[1].start() if len(headings) > 1 else len(changelog)
    text = changelog[headings[0].end() : end].strip()
    if not text:
        raise NotReady(f"CHANGELOG.md says nothing about {version}.")
    return text


def wheel_problems(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """What is wrong with the files of a wheel: foreign ones, and Python files of the packages that are missing."""
    names = set(names)
    outside = [name for name in names if not re.match(r"torchlift(-[^/]+\.dist-info)?/", name)]
    problems = [f"The wheel holds {name}, which is not below torchlift." for name in sorted(outside)]
    problems += [f"The wheel holds {name}." for name in sorted(names) if "__pycache__" in name or name.endswith(".pyc")]
    packages = {name.partition("/")[0] for name in tracked if name.endswith("/__init__.py") and name.count("/") == 1}
    for name in tracked:
        folder, _, rest = name.partition("/")
        inside = rest if folder == "src" else f"torchlift/{name}" if folder in packages else None
        if inside is not None and name.endswith((".py", ".json")) and inside not in names and "tests" not in folder:
            problems.append(f"The wheel lacks {name}.")
    return problems


def told(*command: str | Path, cwd: Path = ROOT, allowed: Iterable[int] = (0,)) -> str:
    """What a command prints.

    Raises:
        NotReady: it ended otherwise than allowed.
    """
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode not in set(allowed):
        words = " ".join(map(str, command))
        raise NotReady(f"`{words}` ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it: so the sdist holds all that a wheel takes."""
    told(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    told(sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir())
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def look_into(sdist: Path, wheel: Path) -> None:
    """Open both.

    Raises:
        NotReady: they do not hold what they should.
    """
    problems = wheel_problems(zipfile.ZipFile(wheel).namelist(), told("git", "ls-files").splitlines())
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    problems += [
        f"The sdist lacks {name}."
        for name in ("README.md", "LICENSE", "pyproject.toml", "setup.py")
        if name not in inside
    ]
    if problems:
        raise NotReady("\n".join(problems))


def try_out(wheel: Path, version: str) -> None:
    """Install the wheel in an empty environment and run what a newcomer runs first.

    Raises:
        NotReady: something there fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        told(programs / "python", "-m", "pip", "install", "-q", wheel)
        if version not in told(programs / "torchlift", "--version"):
            raise NotReady(f"The installed torchlift does not say that it is {version}.")
        project = shutil.copytree(ROOT / "fixtures/legacy_project", Path(folder, "project"))
        if "TL101" not in told(programs / "torchlift", "migrate", "--check", ".", cwd=project, allowed=(1,)):
            raise NotReady("The installed torchlift finds no trace in the demo project.")
        told(programs / "doctor", "--gpu", "H100", "--driver", "580")
        told(programs / "torchlift", "help", "start")


def ready(version: str, folder: Path, *, tests: bool) -> str:
    """Make the release, and say what is left to do.

    Raises:
        NotReady: it cannot be released as it is.
    """
    stated = re.search(r'__version__ = "(.+)"', (ROOT / "src/torchlift/__init__.py").read_text(encoding="utf-8"))
    if stated is None or stated[1] != version:
        raise NotReady(f"`__version__` in src/torchlift/__init__.py is not {version}.")
    changes = changes_of(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if told("git", "status", "--porcelain").strip():
        raise NotReady("There are uncommitted changes: what is released is what is committed.")
    if f"v{version}" in told("git", "tag").split():
        raise NotReady(f"The tag v{version} exists already.")
    if tests:
        told(ROOT / ".ci/run")
    shutil.rmtree(folder, ignore_errors=True)
    sdist, wheel = build(folder)
    look_into(sdist, wheel)
    try_out(wheel, version)
    size = f"{wheel.stat().st_size / 1e6:.1f} MB"
    return (
        f"{changes}\n\n{wheel.name} ({size}) and {sdist.name} are in {folder}. What is left:\n"
        f"  git tag --sign v{version} --message 'torchlift {version}' && git push origin v{version}\n"
        f"  python -m twine upload {folder}/*\n"
    )


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Make a release ready; nothing is tagged or uploaded.")
    parser.add_argument("version")
    parser.add_argument("--folder", type=Path, default=ROOT / "dist", help="where to build it; what is there goes")
    parser.add_argument("--skip-tests", action="store_true", help="leave out .ci/run")
    asked = parser.parse_args()
    try:
        print(ready(asked.version, asked.folder, tests=not asked.skip_tests))
    except NotReady as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
