"""Run torchlift over the corpus and check what it does: `python bench/corpus_run.py DEST [NAME ...]`.

Each project is copied into a fresh git repository, checked, shown as a patch, and migrated in place: once with the safe
fixes, once with `--unsafe-fixes`. What is asked of every run: exit code 0 or 1, no traceback, changed files parse and
keep encoding, byte-order mark and newlines, nothing changes outside the announced edits, the patch of `--diff` gives
the same files as the migration, and a second run changes nothing. Exit code 1 when something does not hold.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from changes import damage, hunks, lines_of, unexplained
from corpus import Project, fetched, python_files
from scratch import as_repository, changed, commit, git, snapshot
from torchlift_command import DEFAULT, Run, migrate

MODES: dict[str, list[str]] = {"safe": [], "unsafe": ["--unsafe-fixes"]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Run torchlift over the corpus and check what it does.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all that are there)")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--json", type=Path, help="write everything that was found to this file")
    options = parser.parse_args()

    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="torchlift-corpus-") as scratch:
        for project, folder in fetched(options.corpus, options.names):
            result = run_project(options.torchlift, project, folder, Path(scratch))
            results.append(result)
            state = f"{len(result['problems'])} PROBLEM(S)" if result["problems"] else "ok"
            print(f"{project.folder}: {len(result['findings'])} findings, {state}", file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(tables(results))
    if any(result["problems"] for result in results):
        raise SystemExit(1)


def run_project(program: str, project: Project, folder: Path, scratch: Path) -> dict[str, Any]:
    """Everything about one project, as plain data."""
    repository = as_repository(folder, scratch / project.folder)
    start = snapshot(repository)
    problems: list[str] = []

    check = migrate(program, repository, "--check", "--output-format", "json")
    problems += complaints("--check", check)
    if changed(start, snapshot(repository)):
        problems.append("--check: it changed files")
    report = read_report("--check", check, problems)
    problems += [f"--check: {failure['path']}: {failure['reason']}" for failure in report["failures"]]

    files = python_files(folder)
    result: dict[str, Any] = {
        "name": project.name,
        "version": project.version,
        "files": len(files),
        "bytes": sum(path.stat().st_size for path in files),
        "summary": report["summary"],
        "notes": report["notes"],
        "min_torch": [report["min_torch"], report["min_torch_source"]],
        "cpu": check.sample.cpu,
        "peak_mb": check.sample.peak_mb,
        "code": check.sample.code,
        "findings": report["findings"],
        "modes": {},
    }
    for mode in MODES:
        result["modes"][mode], found = run_mode(program, repository, folder, mode, report)
        problems += found
        git(repository, "reset", "--quiet", "--hard", "HEAD~1")
        git(repository, "clean", "--quiet", "-d", "-x", "--force")
        if changed(start, snapshot(repository)):
            raise RuntimeError(f"{project.folder}: the scratch copy could not be put back")
    result["problems"] = problems
    shutil.rmtree(repository)
    return result


def run_mode(
    program: str, repository: Path, original: Path, mode: str, announced: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Show, apply, verify and apply again; leaves one commit more in `repository`. Returns counts and problems."""
    flags = MODES[mode]
    start = snapshot(repository)
    patch = migrate(program, repository, "--diff", *flags)
    problems = complaints(f"--diff {mode}", patch)
    if changed(start, snapshot(repository)):
        problems.append(f"--diff {mode}: it changed files")
    patched = after_patch(patch, repository, mode, problems)

    write = migrate(program, repository, *flags, "--output-format", "json")
    problems += complaints(mode, write)
    report = read_report(mode, write, problems)
    problems += [f"{mode}: {failure['path']}: {failure['reason']}" for failure in report["failures"]]
    problems += [f"{mode}: {refused['path']} was refused: {refused['reason']}" for refused in report["refused"]]
    done = snapshot(repository)
    paths = changed(start, done)
    added = removed = 0
    odd: list[str] = []
    for path in paths:
        if path not in start or path not in done or start[path][1] != done[path][1]:
            problems.append(f"{mode}: {path} came, went, or changed its permissions")
            continue
        old, new = (original / path).read_bytes(), (repository / path).read_bytes()
        found = damage(path, old, new)
        problems += [f"{mode}: {path}: {sentence}" for sentence in found]
        for hunk in hunks(lines_of(old), lines_of(new)):
            removed += hunk.end - hunk.start
            added += hunk.new_end - hunk.new_start
        if not found:
            edits = announced_lines(announced, path, mode)
            odd += [f"{path}:{hunk.start + 1}" for hunk in unexplained(old, new, edits)]
    problems += [f"{mode}: {place} changed, and no edit announced it" for place in odd]

    problems += [f"--diff {mode}: its patch makes another {path} than the migration" for path in changed(patched, done)]
    commit(repository, f"migrated, {mode}")
    again = migrate(program, repository, *flags, "--output-format", "json")
    problems += complaints(f"{mode}, second run", again)
    moved = changed(done, snapshot(repository))
    problems += [f"{mode}, second run: {path} changed again" for path in moved]
    left = read_report(f"{mode}, second run", again, problems)
    if len(left["findings"]) != report["summary"].get("left", len(left["findings"])):
        problems.append(
            f"{mode}, second run: {len(left['findings'])} findings, the first run said {report['summary']['left']}"
        )
    counts = {
        "files": len(paths),
        "added": added,
        "removed": removed,
        "summary": report["summary"],
        "second_run_files": len(moved),
        "cpu": write.sample.cpu,
        "peak_mb": write.sample.peak_mb,
        "changed": paths,
    }
    return counts, problems


def complaints(what: str, run: Run) -> list[str]:
    found = []
    if run.sample.code not in (0, 1):
        found.append(f"{what}: exit code {run.sample.code}: {run.stderr.strip()[-1000:]}")
    if "Traceback (most recent call last)" in run.stderr:
        found.append(f"{what}: traceback: {run.stderr.strip()[-1000:]}")
    return found


def read_report(what: str, run: Run, problems: list[str]) -> dict[str, Any]:
    try:
        report = run.report
    except ValueError as error:
        problems.append(f"{what}: the report cannot be read: {error}")
        report = {}
    empty: dict[str, Any] = {"findings": [], "failures": [], "refused": [], "summary": {}, "notes": []}
    return {"min_torch": None, "min_torch_source": None, **empty, **report}


def announced_lines(report: dict[str, Any], path: str, mode: str) -> list[tuple[int, int]]:
    """First and last line of every edit that `--check` announced for a file and that `mode` may apply."""
    allowed = {"safe"} if mode == "safe" else {"safe", "unsafe"}
    return [
        (edit["location"]["row"], edit["end_location"]["row"])
        for finding in report["findings"]
        if finding["filename"] == path and finding["fix"] and finding["fix"]["applicability"] in allowed
        for edit in finding["fix"]["edits"]
    ]


def after_patch(patch: Run, repository: Path, mode: str, problems: list[str]) -> dict[str, tuple[str, int]]:
    """The files that git makes of the patch; they are put back afterwards."""
    if patch.stdout.strip():
        path = repository.with_name(f"{repository.name}.patch")
        path.write_bytes(patch.stdout)
        # The patch may name files as seen from the folder that holds the repository.
        depth = 2 if f"+++ b/{repository.name}/".encode() in patch.stdout else 1
        try:
            git(repository, "apply", f"-p{depth}", "--whitespace=nowarn", str(path))
        except RuntimeError as error:
            problems.append(f"--diff {mode}: {error}")
    patched = snapshot(repository)
    git(repository, "reset", "--quiet", "--hard")
    git(repository, "clean", "--quiet", "-d", "-x", "--force")
    return patched


def tables(results: list[dict[str, Any]]) -> str:
    """Markdown for people."""
    lines = [
        "| project | files | MB | findings | safe | unsafe | manual "
        "| files changed, safe | lines | files changed, + unsafe | lines | second run | problems | CPU s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    totals: Counter[str] = Counter()
    for result in results:
        kinds = Counter(map(safety, result["findings"]))
        safe, unsafe = result["modes"]["safe"], result["modes"]["unsafe"]
        row = {
            "files": result["files"],
            "kb": result["bytes"] / 1000,
            "findings": len(result["findings"]),
            **{kind: kinds[kind] for kind in ("safe", "unsafe", "manual")},
            "safe files": safe["files"],
            "safe +": safe["added"],
            "safe -": safe["removed"],
            "unsafe files": unsafe["files"],
            "unsafe +": unsafe["added"],
            "unsafe -": unsafe["removed"],
            "second": safe["second_run_files"] + unsafe["second_run_files"],
            "problems": len(result["problems"]),
            "cpu": result["cpu"],
        }
        totals.update(row)
        lines.append(table_row(f"{result['name']} {result['version']}", row))
    lines.append(table_row(f"**{len(results)} projects**", totals))

    rules: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    projects: dict[tuple[str, str], set[str]] = defaultdict(set)
    for result in results:
        for finding in result["findings"]:
            key = (finding["code"], finding.get("name") or "")
            rules[key][safety(finding)] += 1
            projects[key].add(result["name"])
    lines += ["", "| rule | findings | safe | unsafe | manual | projects |", "|---|--:|--:|--:|--:|--:|"]
    for key in sorted(rules):
        kinds = rules[key]
        lines.append(
            f"| {key[0]} {key[1]} | {kinds.total()} | {kinds['safe']} | {kinds['unsafe']} | {kinds['manual']} "
            f"| {len(projects[key])} |"
        )
    problems = [f"- {result['name']}: {problem}" for result in results for problem in result["problems"]]
    if problems:
        lines += ["", "Problems:", "", *problems]
    return "\n".join(lines)


def table_row(name: str, row: dict[str, Any] | Counter[str]) -> str:
    return (
        f"| {name} | {row['files']} | {row['kb'] / 1000:.1f} | {row['findings']} | {row['safe']} | {row['unsafe']} "
        f"| {row['manual']} | {row['safe files']} | +{row['safe +']} -{row['safe -']} | {row['unsafe files']} "
        f"| +{row['unsafe +']} -{row['unsafe -']} | {row['second']} | {row['problems']} | {row['cpu']:.1f} |"
    )


def safety(finding: dict[str, Any]) -> str:
    return finding["fix"]["applicability"] if finding["fix"] else "manual"


if __name__ == "__main__":
    main()
