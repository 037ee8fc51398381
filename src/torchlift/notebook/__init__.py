"""Jupyter notebooks as the Python that runs in them, and back into their file without touching anything else.

What takes a notebook apart is imported for the first one: most projects have none.
"""

from __future__ import annotations

from torchlift.source import SourceText


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return path.endswith(".ipynb")


def read_source(path: str, data: bytes) -> SourceText:
    """The text of a file of Python, or the `NotebookSource` of a notebook.

    Raises:
        UnreadableSource: it cannot be decoded, or is no notebook.
    """
    if not is_notebook(path):
        return SourceText.from_bytes(data)
    from torchlift.notebook.source import NotebookSource

    return NotebookSource.of_file(data)


def searched(data: bytes) -> bytes:
    """What stands in the cells of code of a notebook, in UTF-8, line by line as in its Python; magics are as they were.

    Raises:
        UnreadableSource: it is none.
    """
    from torchlift.notebook.source import searched

    return searched(data)
