"""Check that no file with a finding is left out unparsed: `python bench/nothing_missed.py DEST [NAME ...]`.

Every project is reported twice by the installed torchlift, once as always and once with every Python file parsed, whatever
its bytes say. The reports have to be the same. Exit code 1 when they are not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import fetched
from scratch import as_repository

_PARSE_ALL = """
import sys
from torchlift.migrate.find.selection import RULES, Selection
if sys.argv.pop(1) == "all":
    chosen = Selection.wanted_by
    Selection.wanted_by = lambda self, path: chosen(self, path) | {RULES}
from torchlift.cli import main
main()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Check that no file with a finding is left out unparsed.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all that are there)")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has torchlift")
    options = parser.parse_args()

    different = 0
    with tempfile.TemporaryDirectory(prefix="torchlift-missed-") as scratch:
        for project, folder in fetched(options.corpus, options.names):
            repository = as_repository(folder, Path(scratch, project.folder))
            usual, complete = (report(options.python, how, repository) for how in ("usual", "all"))
            for finding in sorted(complete.symmetric_difference(usual)):
                print(f"{project.folder}: {'missed' if finding in complete else 'only without parsing all'}: {finding}")
            print(f"{project.folder}: {len(usual)} findings, {len(complete)} with every file parsed", flush=True)
            different += usual != complete
    if different:
        raise SystemExit(1)


def report(python: str, how: str, repository: Path) -> set[str]:
    """Findings of a project, each as one line.

    Raises:
        SystemExit: torchlift gave no report.
    """
    arguments = ["migrate", "--check", "--isolated", "--select", "ALL", "--output-format", "json", str(repository)]
    run = subprocess.run([python, "-c", _PARSE_ALL, how, *arguments], capture_output=True, text=True, check=False)
    try:
        findings = json.loads(run.stdout)["findings"]
    except (json.JSONDecodeError, KeyError):
        raise SystemExit(f"no report about {repository.name}:\n{run.stderr}") from None
    return {json.dumps(finding, sort_keys=True) for finding in findings}


if __name__ == "__main__":
    main()
