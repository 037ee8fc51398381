"""What is worth knowing about the variants besides the differences of their calls."""

from __future__ import annotations

from torchlift.testing.difference import Tolerance, call_mismatches
from torchlift.testing.nodes import Call, Raised
from torchlift.testing.variant import NAMES, Role, Variant, by_label


def notes(variants: dict[Role, Variant], tolerance: Tolerance) -> list[str]:
    """Sentences about what is no difference of the calls: `.training`, the state dict, what was not tried."""
    eager, script, migrated = (variants.get(role) for role in NAMES)
    made = {NAMES[role]: variant.made for role, variant in variants.items() if variant.made is not None}
    found = []
    training = {name: one.training for name, one in made.items()}
    if len(set(training.values())) > 1:
        found.append("`.training` is " + ", ".join(f"{value} on {name}" for name, value in training.items()) + ".")
    found += _state_notes({name: one.state for name, one in made.items() if one.state is not None})
    base = script or eager
    if base and base.made and migrated and migrated.made and base.made.drawn != migrated.made.drawn:
        found.append(
            f"Making {NAMES[base.role]} and making migrated leave torch's random generator in different states: code that "
            "draws numbers afterwards gets others."
        )
    if migrated and migrated.saved is not None and migrated.saved.problem == "":
        found.append("Saving was not tried: migrated is no ExportedProgram.")
    if script and script.saved is not None and script.saved.problem:
        found.append(f"TorchScript could not be saved and loaded: {script.saved.problem}.")
    if eager and eager.made:
        found += [
            f"Only None or nothing was tried for the parameter {name!r} of forward." for name in eager.made.never_given
        ]
    if base and migrated:
        found += _error_notes(base, migrated)
    if eager and script and migrated:
        found += _eager_notes(by_label(eager), by_label(script), migrated, tolerance)
    return found


def _state_notes(states: dict[str, dict[str, tuple[str, str]]]) -> list[str]:
    """How the state dict of the migrated value differs from the others', said once for those that are alike."""
    new = states.pop(NAMES["migrated"], None)
    said: dict[str, list[str]] = {}
    for name, old in states.items() if new is not None else ():
        assert new is not None
        lost = [key for key in old if key not in new]
        added = [key for key in new if key not in old]
        changed = [key for key in old if key in new and old[key] != new[key]]
        for keys, words in ((lost, "lacks"), (added, "adds"), (changed, "differs in")):
            if keys:
                said.setdefault(f"{words} {_listed(keys)}", []).append(name)
    return [
        f"Before the first call, `state_dict()` of migrated {words}, compared with {' and '.join(names)}."
        for words, names in said.items()
    ]


def _error_notes(base: Variant, migrated: Variant) -> list[str]:
    """The inputs that proved nothing because both raise on them, said once for each pair of errors."""
    old_calls = by_label(base)
    said: dict[str, str] = {}
    for item in migrated.calls:
        old, new = old_calls.get((item.loaded, item.call.label)), item.call
        if old is not None and isinstance(old.outcome, Raised) and isinstance(new.outcome, Raised):
            pair = f"{NAMES[base.role]} {old.outcome.type}, migrated {new.outcome.type}"
            said.setdefault(pair, f"Both raise on {new.case} ({new.given}): {pair}.")
    return list(said.values())


def _eager_notes(
    eager: dict[tuple[bool, str], Call], script: dict[tuple[bool, str], Call], migrated: Variant, tolerance: Tolerance
) -> list[str]:
    for item in migrated.calls:
        key = (False, item.call.label)
        if item.loaded or key not in eager or key not in script:
            continue
        if not call_mismatches(script[key], item.call, tolerance):
            for mismatch in call_mismatches(eager[key], item.call, tolerance):
                side = f"eager {mismatch.left}, both captures {mismatch.right}"
                return [f"Eager differs from both captures alike: {item.call.label}: {mismatch.path}: {side}."]
    return []


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
