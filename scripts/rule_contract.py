"""What `lint-imports` checks about rules: a rule file is imported by nothing but the register of rules."""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class NoRuleImportsARule(Contract):
    """No module below `package` imports one of its `tl*` modules: what two rules need has a file of its own."""

    package = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports that break it."""
        below = f"{self.package}."
        rules = {name for name in graph.modules if name.startswith(below) and _is_rule(name)}
        broken = [
            detail
            for rule in sorted(rules)
            for importer in sorted(graph.find_modules_that_directly_import(rule))
            if importer.startswith(below)
            for detail in graph.get_import_details(importer=importer, imported=rule)
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Say which they are."""
        details: list[dict[str, Any]] = check.metadata["broken"]
        for detail in details:
            output.print_error(f"{detail['importer']}:{detail['line_number']} imports {detail['imported']}", bold=True)
        output.new_line()


def _is_rule(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.startswith("tl") and last[2:3].isdigit()
