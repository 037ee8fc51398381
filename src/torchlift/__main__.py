"""`python -m torchlift`: the same as the `torchlift` command."""

from torchlift.cli import main

main()
