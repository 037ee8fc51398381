"""What recorded evidence proves of the programs in fixtures/evidence_programs: `python bench/proven.py [NAME ...]`.

Every program is recorded twice: with all its calls, and as if only the first one of each value had been seen. A line for each,
as tests/record/test_evidence_programs.py expects it: what may be done with all calls, with the first one, whether what the first
one would apply is right on all of them, and what the text printed that `migrate --evidence` left. Then the sums.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import evidence_programs as programs


def main(names: list[str]) -> None:
    counted: Counter[str] = Counter()
    seconds = []
    for name in names or programs.NAMES:
        whole = programs.recorded(name)
        first = programs.recorded(name, first_call_only=True)
        text = programs.migrated(name, whole)
        source = (programs.FOLDER / f"{name}.py").read_text()
        after = "unchanged"
        if text != source:
            after = "identical" if programs.output_of(text, name) == whole.output else "DIFFERS"
        said, alone = programs.conclusion(whole.sites), programs.conclusion(first.sites)
        right = ""
        if alone.startswith("applied"):
            right = (
                "right" if said.split(":")[1:2] == alone.split(":")[1:2] and not said.startswith("refused") else "WRONG"
            )
        seconds += [value.proof.seconds for site in whole.sites for value in site.values if value.proof is not None]
        counted.update(
            [
                "programs",
                f"all calls: {said.partition(':')[0]}",
                f"text: {after}",
                f"first call: {alone.partition(':')[0]} {right}",
            ]
        )
        print(f"{name}\t{said}\t{alone}\t{right}\t{after}", flush=True)
    print(dict(counted))
    seconds.sort()
    print(
        f"CPU seconds a value: median {seconds[len(seconds) // 2]:.1f}, most {seconds[-1]:.1f}, {len(seconds)} values"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
