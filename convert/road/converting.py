"""One file after the other: inputs, export, proof, and the program in its place if it does the same."""

from __future__ import annotations

import hashlib
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchlift import __version__
from torchlift.convert.archive.code import LIBRARIES
from torchlift.convert.archive.devices import other_devices
from torchlift.convert.archive.model_file import ModelFile
from torchlift.convert.road.further_children import module_name
from torchlift.convert.road.given_inputs import GivenInputs, from_evidence, recorded
from torchlift.convert.road.judging import unequal, verdict_on
from torchlift.convert.road.record import CONVERSION_SCHEMA, Conversion, Manifest, TriedWay
from torchlift.convert.road.search import searched
from torchlift.convert.road.source import UNPACKED, LoadedArchive, read_source
from torchlift.convert.road.step import CaseDifferences, Exported, FoundInputs, NoResult, Task
from torchlift.json_records.writing import plain
from torchlift.lazy_dataclass import dataclass
from torchlift.testing.processes import FreshProcesses
from torchlift.whole_file import write_whole

_CHILDREN = "torchlift.convert.road.children"
_FURTHER = "torchlift.convert.road.further_children"
_WAYS = 6
_CONVERTER = -2
_PATIENCE = (
    5.0  # seconds for a second of CPU time, on a machine that has other work; what sleeps for ever is ended, too
)
_COMPILING = 5.0  # a first compilation of a small model took 160 s on two cores (torch 2.13)
_ASKS_DTYPE = frozenset(
    ("prim::dtype", "aten::type_as", "aten::is_floating_point", "aten::promote_types", "aten::is_complex")
)


@dataclass(frozen=True)
class ConvertWish:
    """What the user asked for.

    Attributes:
        inputs: of `--inputs` and `--inputs-file`.
        evidence: a `RecordedEvidence`.
        methods: to be converted; `forward` if none is named.
        allowed: names of cases that may differ.
        check_only: whether nothing is written.
        overwrite: whether a file that is there may be replaced.
        seconds, memory: limits of a step: CPU time, bytes.
        emit_python: folder for a Python module, which is then made in the place of a program.
        aoti, executorch: whether the program is also compiled for these.
    """

    inputs: GivenInputs | None = None
    evidence: Any = None
    methods: tuple[str, ...] = ()
    allowed: frozenset[str] = frozenset()
    check_only: bool = False
    overwrite: bool = False
    seconds: float = 120.0
    memory: int = 8 << 30
    emit_python: Path | None = None
    aoti: bool = False
    executorch: bool = False


class Converter:
    """Converts files, with the same processes for all.

    Args:
        wish: what the user asked for.
        processes: where everything under torch runs.
        tell: gets a few words about what happens now.
    """

    def __init__(
        self, wish: ConvertWish, processes: FreshProcesses, tell: Callable[[str], None] = lambda words: None
    ) -> None:
        self._wish, self._processes, self._tell = wish, processes, tell
        self._taken: dict[Path, Path] = {}
        """What this run wrote, and the archive that it is of: a module serves all methods of one, and no other archive."""

    def convert(self, path: Path, target: Path, below: Path = Path()) -> Iterator[Conversion]:
        """What comes of each method of the file.

        Args:
            path: the file.
            target: where the program of `forward` goes.
            below: folder inside of that for Python modules.
        """
        with tempfile.TemporaryDirectory(prefix="torchlift-") as folder:
            source = read_source(path, Path(folder))
            if isinstance(source, str):
                yield Conversion(str(path), "", "refused", source)
                return
            for method in self._wish.methods or source.methods():
                started = time.monotonic()
                place = target if method == "forward" else target.with_suffix(f".{method}{target.suffix}")
                if self._wish.emit_python is not None:
                    place = self._wish.emit_python / below / f"{module_name(path)}.py"
                done = self._method(path, source, method, place)
                yield replace(done, seconds=round(time.monotonic() - started, 1))

    def _method(self, path: Path, source: LoadedArchive, method: str, target: Path) -> Conversion:
        found, digests = source.found, source.digests
        assert found.torchscript is not None
        start = Conversion(str(path), method, "failed", "")
        if method not in found.torchscript.methods:
            others = ", ".join(found.torchscript.methods) or "none"
            return replace(start, outcome="refused", said=f"{path} has no method {method!r}; it has: {others}.")
        if not self._wish.check_only and (problem := self._why_not_there(target, path)):
            return replace(start, outcome="refused", said=problem)
        operators = set(found.torchscript.code.operators())
        reads = bool(_ASKS_DTYPE & operators)
        libraries = tuple(sorted({name.partition("::")[0] for name in operators} & LIBRARIES))
        task = Task(
            str(source.path.resolve()), digests, method, [], memory=self._wish.memory, seconds=self._wish.seconds
        )
        devices = other_devices(found.torchscript.code)
        task = replace(task, reads_dtype=reads, libraries=libraries, moved=bool(devices), unpacked=source.unpacked)
        self._tell(f"{path.name}: inputs")
        given, task, problem = self._inputs(found, task, self._wish, path)
        if given is None:
            return replace(start, outcome="refused", said=f"{path}: {problem}.")
        notes = [given.said] if given.said else []
        if devices:
            notes.append(
                f"Its code names {' and '.join(devices)}: it ran with the CPU in that place, and so does this."
            )
        notes += [UNPACKED] * source.unpacked
        said = " ".join(notes)
        start = replace(start, inputs=str(given), inputs_from=given.source, assumption=said)
        with tempfile.TemporaryDirectory(prefix="torchlift-") as folder:
            if self._wish.emit_python is not None:
                return self._python(start, replace(task, program=folder), source, target)
            return self._programs(start, replace(task, program=str(Path(folder, "program.pt2"))), target)

    def _why_not_there(self, target: Path, archive: Path) -> str:
        """Why nothing can be written there; empty if it can."""
        other = self._taken.get(target)
        if other is not None and (other != archive or self._wish.emit_python is None):
            return (
                f"{target} was written for {other} just now; {archive} needs a folder of its own (-o, --emit-python)."
            )
        if other is None and target.exists() and not self._wish.overwrite:
            return f"{target} is there already; --overwrite replaces it."
        return ""

    def _inputs(
        self, found: ModelFile, task: Task, wish: ConvertWish, path: Path
    ) -> tuple[GivenInputs | None, Task, str]:
        assert found.torchscript is not None
        sources: list[list[GivenInputs]] = []
        if wish.inputs is not None:
            sources.append([wish.inputs])
        else:
            if wish.evidence is not None:
                sources.append(from_evidence(wish.evidence, evidence_hash(path), task.method))
            sources += [recorded(found.torchscript, task.method), list(searched(found, task.method))]
        problem = "nobody gave inputs, and its types leave too much open to guess; --inputs gives them"
        for tries in filter(None, sources):
            guessed = tries[0].source == "search"
            asked = replace(task, tries=[(one.args, one.kwargs) for one in tries], searched=guessed)
            result = self._run("list_inputs", asked)
            if isinstance(result, FoundInputs):
                given = replace(tries[0] if guessed else _same(tries, result), args=result.args, kwargs=result.kwargs)
                if given.source == "search":
                    given = replace(given, said=f"{given.said} Tried: {result.tried}.")
                settled = replace(task, tries=[(given.args, given.kwargs)], below=result.below)
                return given, settled, ""
            problem = result.text if isinstance(result, NoResult) else "the archive gave no answer"
            if wish.inputs is not None:
                break
        return None, task, problem

    def _programs(self, start: Conversion, task: Task, target: Path) -> Conversion:
        tried: list[TriedWay] = []
        best: Conversion | None = None
        ended: set[bool] = set()
        for flow, number in (*itertools.product((False, True), range(_WAYS)), (False, _CONVERTER)):
            if number != _CONVERTER and flow in ended:
                continue
            self._tell(f"{Path(start.path).name}: export")
            function = "convert_graph" if number == _CONVERTER else "export"
            made = self._run(function, replace(task, way=number, flow=flow))
            if not isinstance(made, Exported):
                problem = made.text if isinstance(made, NoResult) else "it gave no answer"
                if problem == "no further way":
                    ended.add(flow)
                    continue
                name, _, reason = (
                    problem.partition(": ") if number != _CONVERTER else ("torch's converter", "", problem)
                )
                if any(one.failed == (reason or name) for one in tried):
                    continue
                tried.append(TriedWay(name if reason else f"way {number + 1}", reason or name))
                continue
            self._tell(f"{Path(start.path).name}: proof")
            plainly = replace(task, way=-1 if made.plain else 0, flow=made.flow)
            cases, stopped = self._cases("prove", plainly)
            judged = verdict_on(start, made, cases, stopped, self._wish.allowed)
            if judged.outcome == "same":
                return self._finished(replace(judged, tried=tried), plainly, target)
            tried.append(TriedWay(made.way, judged.said))
            if best is None or len(unequal(judged)) < len(unequal(best)):
                best = judged
        if best is not None:
            return replace(best, tried=tried)
        first = tried[0].failed if tried else "no way of exporting applies"
        return replace(
            start, outcome="failed", said=f"{start.path}: no way makes a program; the first: {first}.", tried=tried
        )

    def _python(self, start: Conversion, task: Task, source: LoadedArchive, target: Path) -> Conversion:
        self._tell(f"{Path(start.path).name}: Python")
        made = self._run("emit_python", task)
        if not isinstance(made, Exported):
            reason = made.text if isinstance(made, NoResult) else "it gave no answer"
            return replace(start, outcome="failed", said=f"{start.path} cannot be written as Python: {reason}.")
        cases, problem = self._cases("prove_python", task)
        done = verdict_on(start, made, cases, problem, self._wish.allowed)
        if done.outcome != "same" or self._wish.check_only:
            return done
        names = (target.name, f"test_{target.name}", f"{target.stem}.safetensors")
        files = [(Path(task.program, name), target.with_name(name)) for name in names]
        if source.unpacked:  # what the test is run with: the archive itself cannot be loaded
            files.append((source.path, target.with_name(f"{target.stem}_unpacked.pt")))
        try:
            for made_file, place in files[::-1]:
                _put(made_file, place)
        except OSError as error:
            return replace(done, outcome="failed", said=f"{target} cannot be written: {error.strerror or error}.")
        self._taken[target] = Path(done.path)
        return replace(done, outcome="converted", written=[str(place) for _, place in files])

    def _finished(self, done: Conversion, task: Task, target: Path) -> Conversion:
        done = self._further(done, task, target)
        if self._wish.check_only:
            return done
        manifest = target.with_name(f"{target.name}.json")
        further = [
            (Path(task.program).with_suffix(suffix), target.with_suffix(suffix)) for suffix in _further_suffixes(done)
        ]
        files = [(Path(task.program), target), *further]
        done = replace(done, outcome="converted", written=[*(str(place) for _, place in files), str(manifest)])
        archive = Path(done.path)
        text = Manifest(
            CONVERSION_SCHEMA,
            __version__,
            _torch_version(),
            archive.name,
            _sha256(archive),
            _sha256(Path(task.program)),
            done,
        )
        try:
            for source, place in files:
                _put(source, place)
            write_whole(manifest, (json.dumps(plain(text), indent=2) + "\n").encode("utf-8"))
        except OSError as error:
            said = f"{target} cannot be written: {error.strerror or error}."
            return replace(done, outcome="failed", said=said, written=[])
        self._taken[target] = archive
        return done

    def _further(self, done: Conversion, task: Task, target: Path) -> Conversion:
        """What else was asked for: compiled for other runtimes, and whether that does the same."""
        also: list[TriedWay] = []
        asked = (
            ("AOTInductor", "compile_package", "prove_package", self._wish.aoti),
            ("ExecuTorch", "lower_for_executorch", "prove_lowered", self._wish.executorch),
        )
        for name, function, proof, wanted in asked:
            if not wanted:
                continue
            self._tell(f"{Path(done.path).name}: {name}")
            made = self._run(function, replace(task, seconds=_COMPILING * task.seconds))
            failed = made.text if isinstance(made, NoResult) else None
            if failed is None:
                cases, problem = self._cases(proof, task)
                judged = verdict_on(done, Exported(name, {}, False), cases, problem, self._wish.allowed)
                failed = None if judged.outcome == "same" else judged.said
            also.append(TriedWay(name, failed))
        return replace(done, also=also)

    def _cases(self, function: str, task: Task) -> tuple[list[CaseDifferences], str]:
        ending = self._processes.run(_target(function), task, timeout=_PATIENCE * task.seconds)
        problems = [one.text for one in ending.records if isinstance(one, NoResult)]
        return [one for one in ending.records if isinstance(one, CaseDifferences)], "; ".join(problems) or _ended(
            ending
        )

    def _run(self, function: str, task: Task) -> Any:
        """The last that a step said; a `NoResult` if it did not come to its end."""
        ending = self._processes.run(_target(function), task, timeout=_PATIENCE * task.seconds)
        problem = _ended(ending)
        if problem:
            return NoResult(problem)
        return ending.records[-1] if ending.records else NoResult("it gave no answer")


def _target(function: str) -> str:
    room = _CHILDREN if function in ("list_inputs", "export", "convert_graph", "prove") else _FURTHER
    return f"{room}:{function}"


def _further_suffixes(done: Conversion) -> list[str]:
    suffixes = {"AOTInductor": ".aoti.pt2", "ExecuTorch": ".pte"}
    return [suffixes[one.way] for one in done.also if one.failed is None]


def _ended(ending: Any) -> str:
    if ending.how == "timed out":
        return "it did not end in time (--timeout)"
    if ending.how == "crashed":
        limit = " (--timeout)" if ending.reason == "SIGXCPU" else ""
        return f"the process was ended by {ending.reason}{limit}"
    return ""


def _same(tries: list[GivenInputs], found: FoundInputs) -> GivenInputs:
    return next(one for one in tries if (one.args, one.kwargs) == (found.args, found.kwargs))


def evidence_hash(path: Path) -> str:
    """The hash by which evidence names an archive (record/hooks/archives.py)."""
    from torchlift.record.hooks.archives import ArchiveDigest

    return str(ArchiveDigest.of_file(str(path)))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _slow(file)


def _slow(file: Any) -> str:
    digest = hashlib.sha256()
    while data := file.read(1 << 20):
        digest.update(data)
    return digest.hexdigest()


def _torch_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def _put(finished: Path, target: Path) -> None:
    with finished.open("rb") as content:
        write_whole(target, content)
