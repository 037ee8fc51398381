"""A data set as Parquet, a file a table, for whatever reads that."""

from __future__ import annotations

from pathlib import Path

from torchlift.survey.data_set import TABLES, DataSet


class NoParquet(Exception):
    """Parquet cannot be written; the message is a sentence."""


def write(data_set: DataSet, folder: Path) -> None:
    """Write `repositories.parquet`, `findings.parquet` and so on into a folder.

    Raises:
        NoParquet: pyarrow is not installed, or the folder cannot be written.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise NoParquet("`--parquet` needs pyarrow; run: pip install '.[survey]' in a clone of torchlift") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            columns, rows = data_set.rows(name)
            values = {column: [row[index] for row in rows] for index, column in enumerate(columns)}
            parquet.write_table(arrow.table(values), folder / f"{name}.parquet")
    except OSError as error:
        raise NoParquet(f"{folder} cannot be written: {error.strerror or error}.") from None
