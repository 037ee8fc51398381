"""`torchlift rule CODE` and `torchlift rules`."""

from __future__ import annotations

import json
from difflib import get_close_matches

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("code")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rule(code: str, output_format: str) -> None:
    """Explain the rule CODE (a code, a name, or another tool's code)."""
    from torchlift.rules.catalogue import as_data, as_markdown
    from torchlift.rules.registry import all_rules, selected_by

    known = all_rules()
    found = [item for item in known.values() if code.upper() in {item.code, *item.aliases} or code == item.name]
    if not found:
        family = [item.code for item in known.values() if selected_by(item, code.upper())]
        if family:
            raise click.UsageError(f"{code!r} stands for several rules; name one of {', '.join(family)}.")
        names = [name for item in known.values() for name in (item.code, item.name, *item.aliases)]
        close = get_close_matches(code, names, n=3)
        hint = f" Did you mean {', '.join(close)}?" if close else " `torchlift rules` lists them all."
        raise click.UsageError(f"There is no rule {code!r}.{hint}")
    for item in found:
        click.echo(json.dumps(as_data(item), indent=2) if output_format == "json" else as_markdown(item), nl=False)
        if output_format == "json":
            click.echo()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rules(output_format: str) -> None:
    """List all rules."""
    from torchlift.rules.catalogue import as_data
    from torchlift.rules.registry import all_rules

    known = all_rules().values()
    if output_format == "json":
        click.echo(json.dumps([as_data(item) for item in known], indent=2))
        return
    width = max(len(item.name) for item in known)
    for item in known:
        click.echo(f"{item.code}  {item.name:<{width}}  {item.summary}")
