"""Which files can matter, told from their bytes.

Most files of a project never meet a parser. They pass one sieve after another, each dearer and finer than the one before,
and each may err on one side only: it may keep a file that does not matter, and never drops one that does.

- `vocabulary` may say whether a word stands in a file, and of any other text only that it does not: it knows neither order
  nor place. It can be kept where the file itself would take too much memory.
- `prefilter` may say that no rule has a trigger in a file. Comments and strings count as well as code: what it keeps has
  the words, no more. What it looks for is kept with the index of rules, for all of them (`rules.search_terms`); who runs only
  some leaves out the names of the others.
- `glance` may say that a file uses no name that a rule asks about, or uses it only in ways that do not matter to the rule.
  It reads imports and attributes with regular expressions; where it is in doubt, the file is kept.
- `translations` may say that a module binds no such name because the word stands nowhere in it, and parses it otherwise.
- the record of a `collector` may stand for its file wherever the question is the collector's. It is made from the view, of
  every file that the sieves above leave to the collector, and kept when the view is not.
- the `view` itself, one floor up, drops nothing: what it cannot tell is given with all it may be.

Each is held to this by a test that compares it with what it spares: `tests/ground/test_project_files.py` (words,
translations), `test_prefilter.py`, `test_glance.py`; all of them together by `tests/migrate/test_parses.py`, and over real
projects by `bench/nothing_missed.py`. Names in letters that Python
reads as others (full-width ones) are seen by none of them.

The other files of the folder drop nothing:

- `project_files` has the bytes of all files as the state of the project is, read once, and says in which of them a text
  stands. That answer is exact: where vocabularies were remembered they only say which bytes need not be looked at.
- `parties` are those who look for names together.
- `module_files` says from paths alone which file is which module, `translations` what a name of a module is bound to,
  `reads` what a file reads of other modules, `asked` which of all this an answer was made from.
- `view_cache` keeps parsed files. It may forget any of them at any time, so it changes the time that an answer takes and
  never the answer.
"""
