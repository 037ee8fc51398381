"""The exported program against TorchScript: way after way, until one does the same on every call."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional

from .exporting import Way, as_module, bounded_sizes, decoded, exported, fixed_sizes, ways
from .keeper import pending_mark, program_path
from .replay import Player, program_loaded
from .shared import Call, Container
from .steps import Emit, first_line

if TYPE_CHECKING:
    from .proof import PlayedCalls, Prover

_MODES = ("train", "eval", "requires_grad_", "zero_grad")
_WAY_FILE = "torchlift_way"
Found = tuple[dict[str, Any], dict[str, str]]


def prove_program(prover: Prover, script: PlayedCalls) -> Found:
    """`export` and `probes` of the proof."""
    refused = _refused(prover, script)
    if refused is not None:
        return {"proved": None, "worst": 0.0, "tried": [{"variant": "as given", "failed": refused}]}, {}
    example = decoded(prover.capture.example) if prover.capture.example is not None else None
    named = any(_has_named_tuple(call.outcome) for call in script.calls.values())
    tried: list[dict[str, Any]] = []
    best: Optional[Found] = None
    for way in ways(example, prover.inputs(), named):
        if best is not None and not _may_cover_more(way, best):
            continue
        found, failed = _try(prover, script, way)
        if found is not None and (best is None or not _uncovered(found)):
            best = found
            _adopt(prover)
        if found is not None and not _uncovered(found):
            break
        if found is not None:
            continue
        repeated = way.name != "plain outputs" and any(_same_reason(failed, one["failed"]) for one in tried)
        tried.append({"variant": way.name, "failed": failed})
        if repeated or prover.spent():
            break
    if best is None:
        return {"proved": None, "worst": 0.0, "tried": tried}, {}
    export, probes = best
    export["tried"] = [*tried, {"variant": export["proved"], "failed": None}]
    return export, probes


def prove_loaded(prover: Prover, script: PlayedCalls) -> Found:
    """The same for a value that was loaded, with the program that was proved for its archive in another process."""
    from .proof import collected, compared, compared_probes

    capture = prover.capture
    path = program_path(capture.spool_path, capture.content or "")
    mark = pending_mark(capture.spool_path, capture.content or "")
    if not os.path.exists(path):
        writing = "is not proved yet" if os.path.exists(mark) else "was not proved, or not recorded"
        return _nothing(f"the program that wrote the archive {capture.content} {writing}"), {}

    def work(emit: Emit) -> None:
        import torch

        more = {_WAY_FILE: ""}
        program = torch.export.load(path, extra_files=more)
        emit(("way", more[_WAY_FILE]))
        prover.play(Player(program.module(), lambda value: program_loaded(program), _is_move), emit)

    made = prover.step(work)
    played = collected(made.results)
    failed, worst, close = compared(script.calls, played.calls, "exported", made.problem)
    name = next((result[1] for result in made.results if result[0] == "way"), "as given")
    if failed is not None:
        return {"proved": None, "worst": 0.0, "tried": [{"variant": name, "failed": failed}]}, {}
    probes = compared_probes(script, played, made.problem)
    export = {
        "proved": name,
        "worst": worst,
        "saved_and_loaded": True,
        **close,
        "tried": [{"variant": name, "failed": None}],
    }
    return export, probes


def _try(prover: Prover, script: PlayedCalls, way: Way) -> tuple[Optional[Found], str]:
    from .proof import PlayedCalls, collected, compared, compared_probes

    saved = bool(prover.course.contents)
    made = prover.step(lambda emit: _export_and_play(prover, way, saved, emit))
    failure = next((result[1] for result in made.results if result[0] == "failed"), None)
    if failure is not None or not any(result[0] == "fixed" for result in made.results):
        return None, str(failure or made.problem)
    rounds = [[result[1:] for result in made.results if result[0] == name] for name in ("played", "loaded")]
    worst, close = 0.0, dict[str, Any]()
    if way.plain:
        script = PlayedCalls(_plainly(script.calls), _plainly(script.probes), script.skipped)
    calls = script.calls
    played = collected([tuple(one) for one in rounds[0]])
    for number, results in enumerate(rounds[: 1 + saved]):
        after = " after save and load" if number else ""
        failed, far, close = compared(
            calls, collected([tuple(one) for one in results]).calls, f"exported{after}", made.problem
        )
        if failed is not None:
            return None, failed + after * ("after save and load" not in failed)
        worst = max(worst, far)
    probes = compared_probes(script, played, made.problem)
    probes["second call"] = "same"
    for bounded in (result[1] for result in made.results if result[0] == "bounded"):
        probes.setdefault("larger sizes", bounded)
    export = {
        "proved": way.name,
        "worst": worst,
        "saved_and_loaded": saved,
        **close,
        "detail": way.detail,
        "fixed": next(result[1] for result in made.results if result[0] == "fixed"),
    }
    return (export, probes), ""


def _export_and_play(prover: Prover, way: Way, saved: bool, emit: Emit) -> None:
    import torch

    from .modes import generator_state

    capture = prover.capture
    module = as_module(capture.original, capture.kind, capture.originals)
    before = generator_state(torch)
    try:
        program = exported(module, way)
    except (Exception, SystemExit) as error:
        emit(("failed", f"{type(error).__name__}: {first_line(error)}"))
        return
    if (generator_state(torch) != before) != (capture.drawn_before not in (None, capture.drawn_after)):
        emit(("failed", "random numbers: capturing draws some on one side only, so that later ones differ"))
        return
    emit(("fixed", fixed_sizes(program, way)))
    for path, words in bounded_sizes(program, way).items() if way.shapes == "auto" and prover.alike() else ():
        emit(("bounded", f"raises: {path} must be {words}"))
    player = Player(program.module(), lambda value: program_loaded(program), _is_move, way.plain)
    prover.play(player, lambda result: emit(("played", *result)))
    if saved:
        try:
            again = program_loaded(program)()
        except Exception as error:
            emit(("failed", f"save and load: {type(error).__name__}: {first_line(error)}"))
            return
        loaded = Player(again, lambda value: program_loaded(program), _is_move, way.plain)
        prover.play(loaded, lambda result: emit(("loaded", *result)))
        for content in prover.course.contents:
            path = program_path(capture.spool_path, content)
            torch.export.save(program, path + ".tried", extra_files={_WAY_FILE: way.name})


def _adopt(prover: Prover) -> None:
    """The program that was tried last is the one for its archives."""
    for content in prover.course.contents:
        path = program_path(prover.capture.spool_path, content)
        if os.path.exists(path + ".tried"):
            os.replace(path + ".tried", path)


def _refused(prover: Prover, script: PlayedCalls) -> Optional[str]:
    """Why an exported program cannot take the place of the value, whatever it gives."""
    others = sorted({event[1] for event in prover.calls} - {"forward"})
    if others:
        return f"methods: `{others[0]}` is called, and an exported program has `forward` only"
    for number, event in enumerate(prover.calls, start=1):
        modes, state = event[3], event[6]
        if modes.get("trained"):
            return f"trained: gradients arrived at its parameters before call {number}"
        if state is not None and state[0] == "outside":
            return f"trained: its parameters or buffers were written before call {number}, outside of any call"
        outcome = script.calls.get(f"call {number}")
        if modes["training"] and modes["grad"] and outcome is not None and _wants_grad(outcome.outcome):
            return f"training: call {number} ran in training mode with gradients on"
    return None


def _wants_grad(node: Any) -> bool:
    if isinstance(node, Container):
        return any(_wants_grad(item) for _, item in node.items)
    return bool(getattr(node, "requires_grad", False))


def _has_named_tuple(node: Any) -> bool:
    return isinstance(node, Container) and (
        node.type.startswith("named.") or any(_has_named_tuple(item) for _, item in node.items)
    )


def _plainly(calls: dict[str, Call]) -> dict[str, Call]:
    """The same with plain tuples in the place of named ones."""
    return {label: replace(call, outcome=_plain(call.outcome)) for label, call in calls.items()}


def _plain(node: Any) -> Any:
    if not isinstance(node, Container):
        return node
    kind = "tuple" if node.type.startswith("named.") else node.type
    return Container(kind, tuple((name, _plain(item)) for name, item in node.items))


def _is_move(method: str) -> bool:
    return method not in _MODES


def _uncovered(found: Found) -> list[str]:
    """Probes on which the program does something else."""
    return [name for name, what in found[1].items() if what.startswith(("raises", "differs"))]


def _may_cover_more(way: Way, best: Found) -> bool:
    """Whether this way may do more than the one that is proved already: other rows, other numbers."""
    missing = _uncovered(best)
    wanted = {"ones doubled": "rows + 3", "dynamic ints": "other numbers"}
    return wanted.get(way.name) in missing


def _same_reason(left: str, right: Optional[str]) -> bool:
    return left == right


def _nothing(reason: str) -> dict[str, Any]:
    return {"proved": None, "worst": 0.0, "tried": [{"variant": "as given", "failed": reason}]}
