"""`torchlift clean`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from torchlift.migrate.cache.folder import CacheRefused, chosen_folder


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="TORCHLIFT_CACHE_DIR",
    metavar="FOLDER",
    help="The cache to remove. [default: the user's]",
)
def clean(cache_dir: Path | None) -> None:
    """Remove what migrate keeps of its runs; the next one finds everything anew."""
    folder = chosen_folder(cache_dir, os.environ)
    try:
        freed = folder.clean()
    except CacheRefused as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(
            f"{error.filename or folder.path} cannot be removed: {error.strerror or error}."
        ) from None
    click.echo(f"Removed {freed / 1e6:.1f} MB from {folder.path}." if freed else f"There is nothing in {folder.path}.")
