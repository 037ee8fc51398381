"""Strings for the record from bytes of unknown encoding."""

from __future__ import annotations


def printable(text: str) -> str:
    """A file name with undecodable bytes as a string that any terminal and JSON reader takes: the bytes become \\xNN."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape" if _escaped(text) else "replace").decode("utf-8", "backslashreplace")


def _escaped(text: str) -> bool:
    return all(not "\ud800" <= letter <= "\udfff" or "\udc80" <= letter <= "\udcff" for letter in text)
