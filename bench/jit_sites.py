"""Count TorchScript sites of the corpus and compare with what torchlift reports: `python bench/jit_sites.py DEST`.

Sites are found by `torchscript_sites.py`, which shares no code with torchlift. A site counts as reported when a finding
of a TL1 rule
- begins on a line of its statement (of its decorator, or of the head of a statement with a body),
- or on the name in the `from` import that the site comes through, where one change serves all uses,
- or on the head of the class around it, and names the site in its help,
- or has a fix that changes its line, as a capture changes where its result is saved,
- or stands above a `torch.jit.save` and shows in its help the `torch.export.save` to write instead, with the same file.
Sites that are not reported but stand under a test of the torch release, `hasattr(torch..., ...)` or an import fallback are
listed as guarded: torchlift skips these on purpose. All others are missing.

Findings are counted twice: with the lowest torch that the project itself supports, and with `--min-torch 2.13`, where
that bound holds no fix back. Exit code 1 when a site is missing, or when torchlift failed on a file.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from corpus import Project, fetched, python_files
from scratch import as_repository
from torchlift_command import DEFAULT, migrate
from torchscript_sites import Site, sites

BOUNDS: dict[str, list[str]] = {"own": [], "2.13": ["--min-torch", "2.13"]}
SAFETIES = ("safe", "unsafe", "manual")

# What is left out of a help text, so that equal reasons read alike: quoted code, places, numbers.
_STAND_INS = (
    (re.compile(r"`[^`]*`"), "`…`"),
    (re.compile(r"[\w./+-]+\.\w+:\d+"), "PLACE"),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+)*"), "N"),
    (re.compile(r"lines N-N \(`…`(?: \.\.\.)?\)"), "line N (`…`)"),
)
# The part of a help text that says why nothing is rewritten; the first that is there counts.
_DECIDING = (
    re.compile(r"The fix needs torch>=N"),
    re.compile(r"Keep it as long as [^.;,]*"),
    re.compile(r"(?:Not rewritten|Needs review):.*?(?:[;.](?= |$))"),
    re.compile(r".*?[:;.](?= |$)"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare TorchScript sites of the corpus with torchlift's findings.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all that are there)")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--reasons", type=int, default=25, metavar="N", help="manual reasons to print (default: 25)")
    parser.add_argument("--guarded", action="store_true", help="also list the guarded sites")
    parser.add_argument("--json", type=Path, help="write every site and every finding to this file")
    options = parser.parse_args()

    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="torchlift-sites-") as scratch:
        for project, folder in fetched(options.corpus, options.names):
            result = run_project(options.torchlift, project, folder, Path(scratch))
            results.append(result)
            print(f"{project.folder}: {sentence(result)}", file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(project_table(results))
    print(f"\n{rule_table(results)}")
    print(f"\n{reason_table(results, options.reasons)}")
    states = ["missing", "guarded"] if options.guarded else ["missing"]
    for state in states:
        listed = [
            f"- {result['name']}: {place(site)}: {site['kind']} of `{site['name']}`: `{site['text']}`"
            for result in results
            for site in result["sites"]
            if site["state"] == state
        ]
        if listed:
            print("\n".join(["", f"{state.capitalize()}:", "", *listed]))
    problems = [f"- {result['name']}: {problem}" for result in results for problem in result["problems"]]
    if problems:
        print("\n".join(["", "Problems:", "", *problems]))
    if problems or any(site["state"] == "missing" for result in results for site in result["sites"]):
        raise SystemExit(1)


def run_project(program: str, project: Project, folder: Path, scratch: Path) -> dict[str, Any]:
    """Sites and findings of one project, as plain data."""
    problems: list[str] = []
    unreadable: list[str] = []
    found: list[tuple[str, Site]] = []
    for path in python_files(folder):
        relative = path.relative_to(folder).as_posix()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found += [(relative, site) for site in sites(path, folder)]
            except (SyntaxError, ValueError):
                unreadable.append(relative)

    repository = as_repository(folder, scratch / project.folder)
    result: dict[str, Any] = {"name": project.name, "version": project.version, "unreadable": unreadable}
    result["findings"] = {}
    for bound, arguments in BOUNDS.items():
        run = migrate(program, repository, "--check", "--select", "TL1", "--output-format", "json", *arguments)
        try:
            report = run.report
        except ValueError:
            report = {"findings": [], "failures": [], "min_torch": None, "min_torch_source": None}
            problems.append(f"no report (exit code {run.sample.code}): {run.stderr.strip()[-1000:]}")
        result["findings"][bound] = report["findings"]
        if bound == "own":
            result["min_torch"] = [report["min_torch"], report["min_torch_source"]]
            result["failures"] = [f"{failure['path']}: {failure['reason']}" for failure in report["failures"]]
        problems += [f"{failure['path']}: {failure['reason']}" for failure in report["failures"] if failure["ours"]]
    result["problems"] = sorted(set(problems))

    findings: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for finding in result["findings"]["own"]:
        findings[finding["filename"]].append(finding)
    result["sites"] = [
        {"path": path, "state": state(site, findings[path]), **dataclasses.asdict(site)} for path, site in found
    ]
    return result


def state(site: Site, findings: Iterable[dict[str, Any]]) -> str:
    """`reported`, `guarded` or `missing`."""
    for finding in findings:
        row, end = finding["location"]["row"], finding["end_location"]["row"]
        edits = finding["fix"]["edits"] if finding["fix"] else ()
        if (
            site.statement[0] <= row <= site.statement[1]
            or row <= site.line <= end
            or any(first <= site.last and site.line <= last for first, last in map(lines_of, edits))
            or site.imported == (row, finding["location"]["column"])
            or (site.owner and site.owner[0] <= row <= site.owner[1] and site.name in str(finding["help"]))
            or (site.written and row < site.line and shows_saving(str(finding["help"]), site.written))
        ):
            return "reported"
    return "guarded" if site.guarded else "missing"


def shows_saving(words: str, file: str) -> bool:
    return "`torch.export.save(" in words and f", {file})`" in words


def lines_of(edit: dict[str, Any]) -> tuple[int, int]:
    """First and last line that an edit changes; it may end where the next line begins."""
    first, end = edit["location"]["row"], edit["end_location"]
    return first, max(first, end["row"] - (end["column"] == 1))


def safety(finding: dict[str, Any]) -> str:
    return finding["fix"]["applicability"] if finding["fix"] else "manual"


def counts(result: dict[str, Any]) -> Counter[str]:
    """Sites by state and findings by bound and safety."""
    row = Counter(site["state"] for site in result["sites"])
    row["sites"] = len(result["sites"])
    for bound, findings in result["findings"].items():
        row[f"{bound} findings"] = len(findings)
        for finding in findings:
            row[f"{bound} {safety(finding)}"] += 1
    return row


def sentence(result: dict[str, Any]) -> str:
    row = counts(result)
    return (
        f"{row['sites']} sites, {row['reported']} reported, {row['guarded']} guarded, {row['missing']} missing, "
        f"{len(result['problems'])} problem(s)"
    )


def place(site: dict[str, Any]) -> str:
    return f"{site['path']}:{site['line']}"


def project_table(results: list[dict[str, Any]]) -> str:
    """Markdown: a row for each project with a site or a finding."""
    lines = [
        "| project | lowest torch | sites | reported | guarded | missing | findings | safe | unsafe | manual "
        "| safe, torch>=2.13 | unsafe | manual | why manual |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    total: Counter[str] = Counter()
    without = []
    for result in results:
        row = counts(result)
        if not row["sites"] and not row["own findings"]:
            without.append(result["name"])
            continue
        total.update(row)
        lines.append(table_row(f"{result['name']} {result['version']}", result["min_torch"][0] or "", row, result))
    lines.append(table_row(f"**{len(results) - len(without)} projects**", "", total, None))
    if without:
        lines += ["", f"Without TorchScript: {', '.join(without)}."]
    return "\n".join(lines)


def table_row(name: str, bound: str, row: Counter[str], result: dict[str, Any] | None) -> str:
    cells = [row[key] for key in ("sites", "reported", "guarded", "missing", "own findings")]
    cells += [row[f"{key} {safety}"] for key in BOUNDS for safety in SAFETIES]
    reasons = Counter(map(reason, manual(result, "own"))).most_common(2) if result is not None else []
    why = "; ".join(f"{words} ({number})" for words, number in reasons)
    return f"| {name} | {bound} | {' | '.join(map(str, cells))} | {why} |"


def rule_table(results: list[dict[str, Any]]) -> str:
    """Markdown: a row for each rule."""
    rules: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for result in results:
        for bound, findings in result["findings"].items():
            for finding in findings:
                rules[finding["code"], finding["name"] or ""][f"{bound} {safety(finding)}"] += 1
    columns = [f"{bound} {name}" for bound in BOUNDS for name in SAFETIES]
    lines = [
        "| rule | findings | safe | unsafe | manual | safe, torch>=2.13 | unsafe | manual |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for key in sorted(rules):
        row = rules[key]
        cells = " | ".join(str(row[column]) for column in columns)
        lines.append(f"| {key[0]} {key[1]} | {sum(row[column] for column in columns[:3])} | {cells} |")
    return "\n".join(lines)


def reason_table(results: list[dict[str, Any]], most: int) -> str:
    """Markdown: the most frequent reasons why findings are manual, with the project's own bound."""
    found: Counter[str] = Counter()
    projects: dict[str, set[str]] = defaultdict(set)
    rules: dict[str, set[str]] = defaultdict(set)
    for result in results:
        for finding in manual(result, "own"):
            words = reason(finding)
            found[words] += 1
            projects[words].add(result["name"])
            rules[words].add(finding["code"])
    lines = ["| why manual | findings | projects | rules |", "|---|--:|--:|---|"]
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    for words, number in ranked[:most]:
        lines.append(f"| {words} | {number} | {len(projects[words])} | {', '.join(sorted(rules[words]))} |")
    if ranked[most:]:
        lines += ["", f"{len(ranked) - most} more reasons, {sum(number for _, number in ranked[most:])} findings."]
    return "\n".join(lines)


def manual(result: dict[str, Any], bound: str) -> list[dict[str, Any]]:
    return [finding for finding in result["findings"][bound] if safety(finding) == "manual"]


def reason(finding: dict[str, Any]) -> str:
    """Why a finding is manual: the clause of its help that says so, without what belongs to this one place."""
    words = str(finding["help"] or finding["message"])
    for pattern, stand_in in _STAND_INS:
        words = pattern.sub(stand_in, words)
    for pattern in _DECIDING:
        found = pattern.search(words)
        if found:
            words = found[0]
            break
    return words.strip().rstrip(".;:").replace("|", "\\|")


if __name__ == "__main__":
    main()
