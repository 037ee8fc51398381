"""`python -m torchlift`: the same as the `torchlift` command."""

import os
import sys

# `python -m` looks for modules in the working directory first, and a repository may hold a `click.py` of its own.
if not getattr(sys.flags, "safe_path", False) and os.path.realpath(sys.path[0]) == os.path.realpath("."):
    del sys.path[0]

from torchlift.cli import main

main()
