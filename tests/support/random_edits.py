"""Changes that somebody may make to a file, at random, and what of a finding has to be the same for whoever looks."""

from __future__ import annotations

import random

from torchlift.finding import Finding
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad

EXAMPLES = [example for rule in all_rules().values() for example in rule.examples]


def edited(source: random.Random, text: str) -> str:
    """`text` with a line less, more or cut off, or an example of a rule in its place."""
    lines = text.splitlines(keepends=True)
    match source.randrange(5):
        case 0 if lines:
            del lines[source.randrange(len(lines))]
        case 1:
            lines.insert(source.randint(0, len(lines)), "import torch\n")
        case 2:
            example = source.choice(EXAMPLES)
            return example.code if not isinstance(example, Bad) else example.before
        case 3 if lines:
            at = source.randrange(len(lines))
            lines[at] = lines[at][: source.randint(0, len(lines[at]))] + "\n"
        case _:
            lines.append("x = torch.ger(a, b)\n")
    return "".join(lines)


def described(finding: Finding) -> tuple[object, ...]:
    """All that an editor shows of a finding."""
    fix = finding.fix
    return (*finding.sort_key(), finding.severity, finding.help, fix and (fix.title, fix.safety, fix.rewrites))
