"""Runs a command of the user and records what it does with torch: captures, calls, archives, messages between ranks.

`hooks/` runs inside of the command's processes, found by way of `torchlift.at_start`; `prover/` proves there what was captured. They tell
what they see in a spool, a folder; `spool` reads it, `assembly` makes evidence of it (`torchlift.evidence`), `running` is the
whole way, for a library or the command line. Nothing here imports torch.
"""
