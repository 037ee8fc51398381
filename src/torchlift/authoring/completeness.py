"""What is still missing from a rule."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.authoring.scaffold import PLACEHOLDERS
from torchlift.finding import Finding
from torchlift.rules.rule import Bad, Ok, Rule
from torchlift.view.text import text_kind

_FEWEST_LOOK_ALIKES = 3


def is_placeholder(text: str) -> bool:
    """Whether `text` is still what the scaffold wrote."""
    return text.startswith("<") and text.endswith(">")


def unfilled_words(found: Iterable[Finding]) -> list[str]:
    """What findings of a rule would tell users that the scaffold wrote, as sentences; empty if they say what their author means."""
    words = [
        text
        for finding in found
        for text in (finding.message, finding.help, None if finding.fix is None else finding.fix.title)
        if text is not None
    ]
    return [
        f"`check` still says what is to be written: {placeholder}"
        for placeholder in PLACEHOLDERS
        if any(placeholder in text for text in words)
    ]


def gaps_in(rule: Rule) -> list[str]:
    """What `rule` does not say yet, as sentences; empty if nothing is missing."""
    words = {"summary": rule.summary, "why": rule.why, "fix": rule.fix}
    words |= {f"targets[{index}]": target for index, target in enumerate(rule.targets)}
    words |= {f"sources[{index}]": source for index, source in enumerate(rule.sources)}
    unfilled = [f"`{name}` is still to be written: {text}" for name, text in words.items() if is_placeholder(text)]
    written = {name: text for name, text in words.items() if not is_placeholder(text)}
    gaps = [
        (written.get("summary", "x").rstrip(".") != written.get("summary", "x"), "`summary` ends with a full stop."),
        (not rule.summary, "`summary` is empty."),
        (not written.get("why", ".").endswith("."), "`why` does not end with a full stop."),
        (not written.get("fix", ".").endswith("."), "`fix` does not end with a full stop."),
        (not rule.sources, "`sources` is empty: say where each fact comes from."),
        (rule.name != rule.name.lower() or " " in rule.name, "`name` is not in lower case with hyphens."),
        (not (rule.words or rule.text_triggers), "Without `targets`, `triggers` or `text_triggers` it is never asked."),
        (bool(rule.text_triggers) != (rule.text is not None), "`text` and `text_triggers` go together."),
    ]
    return [*unfilled, *(sentence for found, sentence in gaps if found), *_gaps_in_examples(rule)]


def _gaps_in_examples(rule: Rule) -> list[str]:
    bad = [example for example in rule.examples if isinstance(example, Bad)]
    ok = [example for example in rule.examples if isinstance(example, Ok)]
    reasons = [example.why for example in rule.examples]
    gaps = []
    if not bad:
        gaps.append("No example is reported: EXAMPLES needs a `Bad`.")
    if len(ok) < _FEWEST_LOOK_ALIKES:
        gaps.append(f"EXAMPLES has {len(ok)} `Ok`; at least {_FEWEST_LOOK_ALIKES} look-alikes must not match.")
    if not all(reasons):
        gaps.append("An example has no `why`, which names it.")
    gaps += [f"Two examples are called {why!r}." for why in sorted(set(reasons)) if reasons.count(why) > 1]
    for example in bad:
        if example.after is not None and example.safety == "safe" and _is_run(example) and example.run is None:
            gaps.append(
                f"{example.why!r} shows a safe fix, which needs a `run` to prove it; one for review is "
                '`Bad(..., safety="unsafe")`.'
            )
        if example.differs and not example.run:
            gaps.append(f"{example.why!r} has `differs` without `run`.")
    return gaps


def _is_run(example: Bad) -> bool:
    """Whether the example is a program: what says which packages are installed cannot be run."""
    return text_kind(example.path) is None and example.path != "setup.py"
