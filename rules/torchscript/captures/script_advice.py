"""What to do in the place of scripting a module: be fast, leave Python, check something else."""

from __future__ import annotations

import ast

from torchlift.rules.torchscript.captures.module_call import ModuleCall
from torchlift.rules.torchscript.facts.deprecation import EXPORT_DOCS


def speed(about: ModuleCall) -> str:
    """How to make the module itself fast."""
    text = about.module.text
    if about.draft.plain:
        return f"It takes {about.draft.plain} and stays plain Python."
    match about.module.kind:
        case "function":
            return f"For speed use `torch.compile({text})`."
        case "unknown":
            return (
                f"For speed use `torch.compile({text})`; if it is a module, `{text}.compile()` leaves the keys of its "
                "state_dict as they are."
            )
    compiled = f"`torch.compile({text})`, which puts `_orig_mod.` in front of the keys of its state_dict"
    if not isinstance(about.node, (ast.Name, ast.Attribute, ast.Subscript)):
        return f"For speed use {compiled}."
    return f"For speed call `{text}.compile()`, or use {compiled}."


def both_ways(about: ModuleCall) -> str:
    """How to be fast, and how to leave Python."""
    draft = about.draft
    if about.module.kind == "function" or draft.plain:
        return speed(about)
    which = "where" if about.module.kind == "module" else "if it is a module that"
    leave = f"To leave Python, {which} `torch.export` can capture{' it' * (which == 'where')}"
    return f"{speed(about)} {leave}: `{draft.code}`. {draft.remarks} {EXPORT_DOCS}"


def handed_on(about: ModuleCall) -> str:
    """What to hand on in the place of the scripted value."""
    text, draft = about.module.text, about.draft
    if draft.plain:
        return (
            f"Hand on `{text}` itself: it takes {draft.plain}, which `torch.export` would fix, and stays plain Python."
        )
    if about.module.kind == "function":
        return f"Hand on `{text}` itself, or `torch.compile({text})` for speed."
    condition = "Where it" if about.module.kind == "module" else "If it is a module and"
    return (
        f"Hand on `{text}` itself where it is only called there; for speed there is `torch.compile({text})`. {condition} is "
        f"written to a file, export it instead, as far as it can be captured: `{draft.code}`. {draft.remarks}"
    )


def of_test(about: ModuleCall, test: str) -> str:
    """What becomes of a test of scripting."""
    return (
        f"Not rewritten: `{test}` is a test and scripts `{about.module.text}`. Where that is all it is for, delete that part of it"
        f"{successor(about, 'test')}."
    )


def successor(about: ModuleCall, verb: str) -> str:
    """The end of a sentence that advises to delete a check: what else can be checked."""
    text, draft = about.module.text, about.draft
    if draft.plain:
        return f": it takes {draft.plain}, which `torch.export` would fix, and stays plain Python"
    compiled = f"`torch.compile({text})`, called with inputs"
    exported = f"what `torch.export.export({text}, inputs)` captures, in the mode that it is in here"
    match about.module.kind:
        case "function":
            return f", or {verb} its successor: {compiled}"
        case "unknown":
            return f", or {verb} its successor: {compiled}, or, if it is a module, {exported}"
    return f", or {verb} its successor: {exported}"
