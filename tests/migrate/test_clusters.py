"""Which fixes a line of a changed file points at."""

from __future__ import annotations

from torchlift.migrate.verification.clusters import FixedFile
from torchlift.source import SourceText


def test_a_line_that_is_new_points_at_what_stood_before_it_and_one_that_stayed_at_itself_first() -> None:
    before, after = SourceText("x = 1\ny = 2\nz = 3\n"), SourceText("x = 1\nw = 9\nv = 8\nu = 7\nz = 3\n")
    places = FixedFile("a.py", before, after, ())
    assert [len(places.behind(line)) for line in range(1, 6)] == [2, 1, 1, 1, 2]
