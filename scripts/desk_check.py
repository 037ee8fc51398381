"""Find again what smokes rely on in torch: writes the numbers of lines in doctor/smoke/parent/desk_check.json.

    python scripts/desk_check.py [2.13.0=PATH/torch 2.15.0=PATH/torch]

PATH/torch is the folder of an unpacked wheel; without any, the torch that is installed is read. The places are named in
the file itself by their text; only the numbers of their lines are found anew, those of other releases stay. A text that a
release no longer has ends the script with its name: then the smoke is to be read against that release.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import distribution
from pathlib import Path

from torchlift.json_records.writing import on_lines

TABLE = Path(__file__).parents[1] / "doctor" / "smoke" / "parent" / "desk_check.json"


def line_of(root: Path, file: str, text: str) -> int:
    """The number of the line on which `text` begins."""
    source = root.joinpath(file).read_text(encoding="utf-8")
    if text not in source:
        raise SystemExit(f"{root}/{file} does not have {text!r}.")
    return source.count("\n", 0, source.index(text)) + 1


def main() -> None:
    """Write the table."""
    roots = {release: Path(path) for release, _, path in (argument.partition("=") for argument in sys.argv[1:])}
    if not roots:
        torch = distribution("torch")
        roots = {torch.version.partition("+")[0]: Path(str(torch.locate_file("torch")))}
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    for places in table["python"].values():
        for place in places:
            found = {name: line_of(root, place["file"], place["text"]) for name, root in roots.items()}
            place["lines"] = {**place.get("lines", {}), **found}
    TABLE.write_text(on_lines(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
