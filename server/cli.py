"""`torchlift server`."""

from __future__ import annotations

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--stdio", is_flag=True, help="Speak over standard input and output, as it does in any case.")
def server(stdio: bool) -> None:
    """Speak the Language Server Protocol with an editor, over standard input and output.

    Editors start it themselves: `torchlift help editors` says how. It needs the extra `server`: pip install '.[server]' in a clone of torchlift.
    """
    try:
        from torchlift.server.features import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"pygls", "lsprotocol", "cattrs", "attrs"}:
            raise
        raise click.UsageError(
            f"The server needs {error.name}, which is not installed here; run: pip install '.[server]' in a clone of torchlift"
        ) from None
    make_server().start_io()
