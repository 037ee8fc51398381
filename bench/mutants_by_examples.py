"""What the rules' own examples and the fixtures of the doctor notice alone: `python bench/mutants_by_examples.py --seed 1`.

The cheap half of `mutants.py`: the same choice of mutants, asked of the examples of all rules (found, rewritten as shown, told
in the same words; nothing is run under torch), the cases of `fixtures/checks`, the texts of known errors and whole reports, in one process without pytest: a few
thousand questions in half a minute, a mutant in a fraction of a second. What survives here is what `mutants.py`, with
all tests, is to be asked about: `--only` takes its file.
"""

from __future__ import annotations

import argparse
import builtins
import dataclasses
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import mutants as whole
from chosen import Mutant, add_choice, chosen

if TYPE_CHECKING:
    from torchlift.doctor.facts import Facts
    from torchlift.rules.rule import Ok

ROOT = Path(__file__).parents[1]
Question = tuple[str, Callable[[], bool]]


def main() -> None:
    parser = argparse.ArgumentParser(description="See which small mistakes in torchlift examples and fixtures notice.")
    add_choice(parser)
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--most", type=int, default=60, help="seconds for a mutant (default: 60)")
    parser.add_argument(
        "--json", type=Path, required=True, metavar="RESULTS", help="where to write what became of each"
    )
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "tests" / room) for room in ("support", "doctor", "whole")]
    os.environ["TORCHLIFT_NO_CACHE"] = "1"
    picked = chosen(options)
    questions = [*_of_rules(), *_of_checks(), *_of_errors(), *_of_reports()]
    seen: set[int] = set()
    setattr(builtins, whole.HIT, seen.add)
    whole._watch(picked)
    asked: dict[int, list[tuple[float, Question]]] = {}
    for question in questions:
        seen.clear()
        start = time.process_time()
        if not question[1]():
            raise SystemExit(f"{question[0]}: this does not hold without any change.")
        for number in seen:
            asked.setdefault(number, []).append((time.process_time() - start, question))
    print(f"{len(questions)} questions, {time.process_time():.0f} CPU seconds", flush=True)
    parts = [options.json.with_suffix(f".{job}.json") for job in range(options.jobs)]
    children = []
    for job, part in enumerate(parts):
        child = os.fork()
        if not child:
            _judge_all(list(enumerate(picked))[job :: options.jobs], asked, part, options.most)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    rows = [row for part in parts for row in json.loads(part.read_text())]
    options.json.write_text(json.dumps(rows, indent=1) + "\n")
    whole._tell([Mutant(**{**row, "mutation": whole.Mutation(**row["mutation"])}) for row in rows])


def _judge_all(
    mine: list[tuple[int, Mutant]], asked: dict[int, list[tuple[float, Question]]], part: Path, most: int
) -> None:
    done = []
    for number, mutant in mine:
        questions = [question for _, question in sorted(asked.get(number, []), key=lambda one: one[0])]
        mutant.tests = len(questions)
        mutant.fate, mutant.by = _in_a_fork(mutant, questions, most) if questions else ("unseen", "")
        print(f"{mutant.fate}: {mutant.told()} {mutant.by}", flush=True)
        done.append(asdict(mutant))
        part.write_text(json.dumps(done))


def _in_a_fork(mutant: Mutant, questions: list[Question], most: int) -> tuple[str, str]:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.write(write, _until_one_fails(mutant, questions).encode())
        os._exit(0)
    os.close(write)
    return whole._answer(child, read, most)


def _until_one_fails(mutant: Mutant, questions: list[Question]) -> str:
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        whole._mutate(mutant)
        for name, holds in questions:
            if not holds():
                return f"killed\n{name}"
    except BaseException as error:  # whatever stops a question has been noticed
        return f"killed\n{type(error).__name__}"
    return "survived\n"


def _of_rules() -> Iterator[Question]:
    from torchlift.authoring.trial import try_example
    from torchlift.rules.registry import all_rules
    from torchlift.rules.rule import Bad, Rule

    def holds(rule: Rule, example: Bad | Ok, before: str) -> bool:
        tried = try_example(rule, example)
        return not tried.problems and tried.said == before

    for rule in all_rules().values():
        for example in rule.examples:
            shown = dataclasses.replace(example, run=None) if isinstance(example, Bad) else example
            yield f"{rule.code}: {example.why}", partial(holds, rule, shown, try_example(rule, shown).said)


def _of_checks() -> Iterator[Question]:
    import test_doctor_checks as checks

    def said(check: str, facts: Facts) -> str:
        return repr(list(checks.CHECKS[check].look(facts)))

    for check, cases in checks.CASES.items():
        for case in cases:
            facts, before = checks.machine(case), said(check, checks.machine(case))
            yield (
                f"{check}: {case['name']}",
                lambda check=check, facts=facts, before=before: said(check, facts) == before,
            )


def _of_errors() -> Iterator[Question]:
    import test_word_for_word as words

    from torchlift.doctor.errors.table import KNOWN

    for row in KNOWN:
        for text in row.says:
            yield _same(f"{row.id}: {text[:60]}", partial(words.explained, text))


def _of_reports() -> Iterator[Question]:
    import test_word_for_word as words

    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    for name, arguments in words.questions_for_the_doctor(folder):
        yield _same(name, partial(words.answered, *arguments))
    for project in words.PROJECTS:
        copy = words.copied(project, folder)
        yield _same(f"migrate {project}", lambda copy=copy: str(words.answered_in_every_format(copy)))


def _same(name: str, asked: Callable[[], str]) -> Question:
    before = asked()
    return name, lambda: asked() == before


if __name__ == "__main__":
    main()
