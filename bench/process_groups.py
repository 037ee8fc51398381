"""Process groups of the corpus and what torchlift says of them: `python bench/process_groups.py DEST [NAME ...]`.

Calls of `init_process_group` are counted by their name alone, without torchlift's help: every call of a function or method
of that name in a file that holds the word `torch`. Each is classed by its `backend` and `device_id` arguments as written.
A call counts as answered when a finding of torchlift begins on a line of it. The TL2 findings are counted by rule and by
how far their fix can be trusted, with the lowest torch that the project supports and with `--min-torch 2.15`, where only
the new engine matters.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from corpus import Project, fetched, python_files
from scratch import as_repository
from torchlift_command import DEFAULT, migrate

BOUNDS: dict[str, list[str]] = {"own": [], "2.15": ["--min-torch", "2.15"]}
# Where the findings with each bound stand in the results; `findings` is what sample_findings.py reads.
KEYS = {"own": "own findings", "2.15": "findings"}
SAFETIES = ("safe", "unsafe", "manual")
INIT_RULES = {"TL201", "TL202", "TL203"}
NAME = "init_process_group"


def main() -> None:
    parser = argparse.ArgumentParser(description="Count process groups of the corpus and torchlift's findings on them.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all that are there)")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--json", type=Path, help="write every call and every finding to this file")
    options = parser.parse_args()

    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="torchlift-groups-") as scratch:
        for project, folder in fetched(options.corpus, options.names):
            result = run_project(options.torchlift, project, folder, Path(scratch))
            results.append(result)
            print(f"{project.folder}: {sentence(result)}", file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for table in (init_table(results), rule_table(results)):
        print(f"{table}\n")
    problems = [f"- {result['name']}: {problem}" for result in results for problem in result["problems"]]
    if problems:
        print("\n".join(["Problems:", "", *problems]))
        raise SystemExit(1)


def run_project(program: str, project: Project, folder: Path, scratch: Path) -> dict[str, Any]:
    """Calls and findings of one project, as plain data."""
    calls = []
    for path in python_files(folder):
        data = path.read_bytes()
        if NAME.encode() in data and b"torch" in data:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    tree = ast.parse(data)
                except (SyntaxError, ValueError):
                    continue
            calls += [{"path": path.relative_to(folder).as_posix(), **classed(call)} for call in init_calls(tree)]
    repository = as_repository(folder, scratch / project.folder)
    result: dict[str, Any] = {"name": project.name, "calls": calls, "problems": []}
    for bound, arguments in BOUNDS.items():
        run = migrate(program, repository, "--check", "--select", "TL2", "--output-format", "json", *arguments)
        try:
            report = run.report
        except ValueError:
            report = {"findings": [], "failures": []}
            result["problems"].append(f"no report (exit code {run.sample.code}): {run.stderr.strip()[-1000:]}")
        result[KEYS[bound]] = report["findings"]
        result["problems"] += [f"{one['path']}: {one['reason']}" for one in report["failures"] if one["ours"]]
    for call in calls:
        for bound, key in KEYS.items():
            call[bound] = next((safety(one) for one in result[key] if answers(one, call)), "")
    return result


def init_calls(tree: ast.Module) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and NAME in {getattr(node.func, "attr", None), getattr(node.func, "id", None)}
    ]


def classed(call: ast.Call) -> dict[str, Any]:
    """Lines, backend as written, and whether a `device_id` is passed."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    backend = keywords.get("backend", call.args[0] if call.args else None)
    match backend:
        case None:
            kind = "keywords" if None in keywords else "absent"
        case ast.Constant(value=str(text)):
            kind = "nccl" if text == "nccl" or ":nccl" in text else "other constant"
        case ast.IfExp():
            kind = "conditional"
        case _:
            kind = "variable"
    return {"line": call.lineno, "last": call.end_lineno, "kind": kind, "device_id": "device_id" in keywords}


def answers(finding: dict[str, Any], call: dict[str, Any]) -> bool:
    row = finding["location"]["row"]
    return (
        finding["code"] in INIT_RULES
        and finding["filename"] == call["path"]
        and bool(call["line"] <= row <= call["last"])
    )


def safety(finding: dict[str, Any]) -> str:
    return finding["fix"]["applicability"] if finding["fix"] else "manual"


def sentence(result: dict[str, Any]) -> str:
    found = Counter(map(safety, result["findings"]))
    counted = ", ".join(f"{found[key]} {key}" for key in SAFETIES)
    return f"{len(result['calls'])} init calls; TL2 findings: {counted}; {len(result['problems'])} problem(s)"


def init_table(results: list[dict[str, Any]]) -> str:
    """Markdown: a row for each class of call, with what torchlift says of it under each bound."""
    heads = [f"{bound}: {name}" for bound in BOUNDS for name in (*SAFETIES, "nothing")]
    lines = [f"| `init_process_group` with backend | calls | {' | '.join(heads)} |", f"|---|--:|{'--:|' * len(heads)}"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        for call in result["calls"]:
            groups.setdefault("has `device_id`" if call["device_id"] else call["kind"], []).append(call)
    for kind, calls in sorted(groups.items(), key=lambda item: -len(item[1])):
        cells = [
            sum(call[bound] == ("" if name == "nothing" else name) for call in calls)
            for bound in BOUNDS
            for name in (*SAFETIES, "nothing")
        ]
        lines.append(f"| {kind} | {len(calls)} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def rule_table(results: list[dict[str, Any]]) -> str:
    """Markdown: a row for each rule, with its findings under the newer bound and the projects they are in."""
    lines = ["| rule | findings | safe | unsafe | manual | projects |", "|---|--:|--:|--:|--:|---|"]
    rows: dict[str, Counter[str]] = {}
    projects: dict[str, set[str]] = {}
    for result in results:
        for finding in result["findings"]:
            rule = f"{finding['code']} {finding['name']}"
            rows.setdefault(rule, Counter())[safety(finding)] += 1
            projects.setdefault(rule, set()).add(result["name"])
    for rule, row in sorted(rows.items()):
        counted = " | ".join(str(row[key]) for key in SAFETIES)
        lines.append(f"| {rule} | {sum(row.values())} | {counted} | {len(projects[rule])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
