"""Evidence as a recorder would write it about sources that a test has at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torchlift.evidence.known import KnownRuns, known_runs
from torchlift.evidence.places import PlacesOf, SourcePlace
from torchlift.evidence.records import (
    EagerProof,
    ExportProof,
    Proof,
    RecordedArchive,
    RecordedCall,
    RecordedEvidence,
    RecordedSite,
    RecordedValue,
    SourceDefinition,
    TriedVariant,
    WrittenArchive,
)
from torchlift.source import SourceText

PROBES = {"rows + 3": "same", "one row": "same", "other dtype": "not tried: eager raises RuntimeError"}


def place_of(text: str, called: str) -> SourcePlace:
    """The only call or decorator whose line, or lines, hold `called`, the outermost where several do."""
    lines, more = text.splitlines(), called.count("\n")
    found = [
        place
        for place in PlacesOf(text).all()
        if called in "\n".join(lines[place.line - 1 : place.line + more])[place.column - 1 :]
    ]
    return min(found, key=lambda place: (place.line, place.column)) if len(found) > 1 else found[0]


def proof(export: str | None = "as given", *, eager: bool = True, failed: str = "", **more: object) -> Proof:
    """A proof with what the test is about; `export` is the variant that holds."""
    tried = [TriedVariant(export)] if export is not None else [TriedVariant("as given", failed or "Guard failed")]
    made = Proof(
        4,
        0,
        EagerProof(eager, failed=failed or None, probes=dict(PROBES)),
        ExportProof(export, tried=tried),
        dict(PROBES),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def value(
    of: SourceDefinition | None = None, *, shapes: Sequence[str] = ("float32[4,3]", "float32[7,3]"), **more: object
) -> RecordedValue:
    """A captured module that was called with tensors of these shapes."""
    calls = [RecordedCall("forward", [shape], training=False, count=2, tests=["t.py::a"]) for shape in shapes]
    made = RecordedValue(1, of or SourceDefinition("net:Net"), calls=calls, proof=proof())
    return replace(made, **more)  # type: ignore[arg-type]


def site(
    files: Mapping[str, str], path: str, called: str, api: str, *values: RecordedValue, **more: object
) -> RecordedSite:
    """What was recorded of the call on the line that holds `called`, as the source stands now."""
    place = place_of(files[path], called)
    made = RecordedSite(
        f"{path}:{place.line}:{place.column}:{api}",
        path,
        place.line,
        place.column,
        place.end_line,
        place.end_column,
        api,
        place.text_sha,
        place.scope_sha,
        place.qualname,
        place.nth,
        hits=1,
        values=[replace(one, id=number) for number, one in enumerate(values, 1)],
    )
    return replace(made, **more)  # type: ignore[arg-type]


def source(files: Mapping[str, str], path: str, qualname: str) -> SourceDefinition:
    """A class or function of a file, with the hash that it has now."""
    found = PlacesOf(files[path]).definition(qualname)
    assert found is not None
    module = path.removesuffix(".py").replace("/", ".")
    return SourceDefinition(f"{module}:{qualname}", "class", path, found[0], found[1])


def written(
    files: Mapping[str, str], writer: RecordedSite, *readers: tuple[str, str], content: str = "f6934"
) -> RecordedArchive:
    """An archive that the values of a site were written to, and that the calls on these lines read."""
    for one in writer.values:
        one.wrote.append(WrittenArchive(content, "model.pt"))
    places = [(path, place_of(files[path], called)) for path, called in readers]
    return RecordedArchive(
        content,
        [f"{writer.id}#{one.id}" for one in writer.values],
        [f"{path}:{place.line}:{place.column}:torch.jit.load" for path, place in places],
    )


def runs(files: Mapping[str, str], *sites: RecordedSite, archives: Sequence[RecordedArchive] = ()) -> KnownRuns:
    """The evidence as rules see it."""
    evidence = RecordedEvidence(torch="2.13.0", sites=list(sites), files=list(archives))
    return known_runs(evidence, "evidence.json", lambda path: SourceText(files[path]) if path in files else None)
