"""TorchFix's own fixtures, run through torchlift: `python bench/torchfix_fixtures.py TORCHFIX_CHECKOUT`.

The checkout is one of TorchFix's public repository; nothing of it is kept here. Its checker fixtures come with the lines
and codes that TorchFix reports, its codemod fixtures with the text after its fixes. torchlift checks each with `--select TOR`
and is compared by line and TorchFix code; its fixes, those that need review included, are compared with the fixed text line by
line. Every intended difference is listed below with its reason; exit status 1 if there is another one, or if a listed one is
gone.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from torchlift_command import DEFAULT

_EXPECTED = re.compile(r"(\d+):\d+ (TOR\d+) ")

_USES = (
    "an import is reported where nothing in its file uses it; elsewhere every use is reported, and the last fix takes the import "
    "away (TorchFix reports both and leaves the import behind)"
)
_FOLLOWS = "the import is reported, and its fix renames the uses too; TorchFix reports both for one change"
_DTYPE = (
    "TorchFix drops the dtype that the old class meant (float16 on CUDA, bfloat16 on the CPU), so that an autocast around it "
    "decides; here it is written out"
)
_UPPER = "`upper=True` gives the same bits as before, `.mH` does not"
_FLOATS = "`range` makes floats and `arange` integers: the dtype is written out"
_ENDS = "an end one further is enough, whatever the step, and sums of numbers are added up"
_REENTRANT = "TorchFix changes the behaviour; True is what the call does today"
_LEFT = "nothing uses the import any more, so it goes"
_PARTLY = "names that moved are imported from their new place, beside those that did not; TorchFix leaves such an import alone"
_PUBLIC = "`torch.utils.data` is the public module of these functions; `dataloader` only imports them"
_LATE = "torch is imported further down only, so its name cannot be written here; reported without a fix"
_OWN_SPELLING = "the weights are written the way the file writes the model, without a further import"
_CHOICE = "a value that is known at run time only becomes a choice, which is what torchvision does with it; TorchFix leaves it"
_LAYOUT = "arguments keep their lines"

# Differences in checker fixtures, as "-line code" (TorchFix reports it and torchlift does not) or "+line codes", with the
# reason; `*` stands for any text.
CHECKED: dict[str, dict[str, str]] = {
    "deprecated_from_nn": {"+11 TOR101/TOR103": "a call by another name, which TorchFix's fixture says it cannot see"},
    "deprecated_qr": {"-9 TOR103": _USES, "-13 TOR103": _USES},
    "deprecated_register_pytree_node": {"-3 TOR101": _FOLLOWS},
    "removed_symeig": {"-2 TOR004": _USES},
    "sdp_kernel": {"-3 TOR103": _USES},
    "default_collate_convert": {"-5 TOR104": _FOLLOWS, "-8 TOR104": _FOLLOWS},
}

# Differences between TorchFix's fixed text and torchlift's, as "-line" or "+line".
FIXED: dict[str, dict[str, str]] = {
    "amp": {
        '-*autocast("cuda")': _DTYPE,
        '+*autocast("cuda", dtype=torch.float16)': _DTYPE,
        '-*autocast("cpu")': _DTYPE,
        '+*autocast("cpu", dtype=torch.bfloat16)': _DTYPE,
    },
    "cholesky": {"-*cholesky(A).mH": _UPPER, "+*cholesky(A, upper=True)": _UPPER},
    "functorch": {"-import functorch": _LEFT, "-vmap,": _PARTLY, "+from torch.func import vmap": _PARTLY},
    "range-arange": {
        "+*dtype=torch.get_default_dtype())": _FLOATS,
        "-*torch.arange(*": _FLOATS,
        "+torch.arange(1, dim + 2, dtype=torch.long)": _ENDS,
    },
    "reentrant_checkpoint": {"-*use_reentrant=False)": _REENTRANT, "+*use_reentrant=True)": _REENTRANT},
    "default_collate_convert": {
        "-from torch.utils.data import dataloader, _utils*": _LATE,
        "+from torch.utils.data import _utils*": _LATE,
        "-batch = dataloader.default_collate(batch)": _LATE,
        "+batch = *collate.default_collate(batch)": _LATE,
        "-*torch.utils.data.dataloader*": _PUBLIC,
        "+from torch.utils.data import default_*": _PUBLIC,
        "+values = torch.utils.data.default_convert(values)": _PUBLIC,
    },
    "pretrained": {
        "-from torchvision import models": _OWN_SPELLING,
        "-*weights=models.*": _OWN_SPELLING,
        "-*weights_backbone=models.*": _OWN_SPELLING,
        "+*weights=torchvision.models.*V1)": _OWN_SPELLING,
        "+*weights=torchvision.models.*V1,": _LAYOUT,
        "+*weights_backbone=torchvision.models.*": _LAYOUT,
        "-torchvision.models.resnet50(pretrained=pretrained)": _CHOICE,
        "+*if pretrained else None)": _CHOICE,
    },
}


@dataclass
class Compared:
    """One fixture."""

    name: str
    agreed: int = 0
    different: list[tuple[str, str]] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)


def main() -> None:
    """Compare all fixtures and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--torchlift", default=DEFAULT, help="how to run torchlift")
    options = parser.parse_args()
    fixtures = options.checkout / "tests" / "fixtures"
    if not fixtures.is_dir():
        parser.error(f"{fixtures} does not exist; name a checkout of TorchFix.")
    results = []
    with tempfile.TemporaryDirectory(prefix="torchlift-fixtures-") as scratch:
        command = shlex.split(options.torchlift)
        aliases = _aliases(command)
        for path in sorted(fixtures.rglob("checker/*.py")):
            results.append(_checked(command, path, Path(scratch), aliases))
        for path in sorted(fixtures.rglob("codemod/*.in.py")):
            results.append(_rewritten(command, path, Path(scratch)))
    print(_table(results))
    unexplained = [line for result in results for line in result.unexplained]
    for line in unexplained:
        print(line, file=sys.stderr)
    sys.exit(bool(unexplained))


def _aliases(command: list[str]) -> dict[str, list[str]]:
    listed = json.loads(_run([*command, "rules", "--output-format", "json"]))
    return {rule["code"]: rule["aliases"] for rule in listed}


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def _place(path: Path, scratch: Path, name: str) -> Path:
    """A folder with the one fixture in it, under `tests` as in the checkout: some rules are about tests only."""
    folder = scratch / f"{path.parent.parent.name}_{path.parent.name}_{name}" / "tests"
    folder.mkdir(parents=True)
    (folder.parent / "pyproject.toml").touch()
    shutil.copyfile(path, folder / f"{name}.py")
    return folder / f"{name}.py"


def _checked(command: list[str], path: Path, scratch: Path, aliases: dict[str, list[str]]) -> Compared:
    result = Compared(path.stem)
    file = _place(path, scratch, path.stem)
    options = ["--check", "--select", "TOR", "--isolated", "--output-format", "json", "--quiet"]
    findings = json.loads(_run([*command, "migrate", *options, str(file)]))["findings"]
    found: dict[int, list[str]] = {}
    for finding in findings:
        found.setdefault(finding["location"]["row"], []).extend(aliases[finding["code"]])
    expected = _EXPECTED.findall(path.with_suffix(".txt").read_text(encoding="utf-8"))
    lines = {int(line) for line, _ in expected}
    differences = [f"-{line} {code}" for line, code in expected if code not in found.get(int(line), ())]
    result.agreed = len(expected) - len(differences)
    differences += [f"+{line} {'/'.join(found[line])}" for line in sorted(set(found) - lines)]
    _explain(result, differences, CHECKED.get(path.stem, {}))
    return result


def _rewritten(command: list[str], path: Path, scratch: Path) -> Compared:
    stem = path.name.removesuffix(".in.py")
    result = Compared(f"{stem} (fixes)")
    file = _place(path, scratch, stem)
    options = ["--select", "TOR", "--isolated", "--unsafe-fixes", "--allow-no-vcs", "--quiet"]
    _run([*command, "migrate", *options, str(file)])
    old = path.read_text(encoding="utf-8").splitlines()
    wanted = path.with_name(f"{stem}.out.py").read_text(encoding="utf-8").splitlines()
    ours = file.read_text(encoding="utf-8").splitlines()
    changed = [line for line in wanted if line not in old]
    differences = [line for line in difflib.ndiff(wanted, ours) if line[0] in "+-" and line[2:].strip()]
    missed = [line[2:] for line in differences if line[0] == "-" and line[2:] in changed]
    result.agreed = len(changed) - len(missed)
    _explain(result, [f"{line[0]}{line[2:].strip()}" for line in differences], FIXED.get(stem, {}))
    return result


def _explain(result: Compared, differences: list[str], reasons: dict[str, str]) -> None:
    for difference in differences:
        reason = next((text for key, text in reasons.items() if _matches(key, difference)), None)
        if reason is None:
            result.unexplained.append(f"{result.name}: {difference}: no reason is given for this difference")
        else:
            result.different.append((difference, reason))
    for key in reasons:
        if not any(_matches(key, difference) for difference in differences):
            result.unexplained.append(f"{result.name}: {key}: this difference is listed and does not exist any more")


def _matches(key: str, difference: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, key.split("*"))), difference) is not None


def _table(results: list[Compared]) -> str:
    return "\n".join(_rows(results))


def _rows(results: list[Compared]) -> Iterator[str]:
    yield "| fixture | agreed | different | why |"
    yield "| --- | --: | --: | --- |"
    for result in results:
        reasons = "; ".join(dict.fromkeys(reason for _, reason in result.different))
        yield f"| {result.name} | {result.agreed} | {len(result.different) + len(result.unexplained)} | {reasons} |"
    agreed = sum(result.agreed for result in results)
    different = sum(len(result.different) for result in results)
    yield f"| all | {agreed} | {different} | |"


if __name__ == "__main__":
    main()
