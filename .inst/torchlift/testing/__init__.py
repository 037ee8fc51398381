"""Proof that a migrated model does what the old one did: eager, TorchScript and export run side by side.

`compare_captures` compares three ways of making a model. `compare_programs` compares whole programs. torch is imported
in fresh processes only, never in the calling one.
"""

from torchlift.testing.captures import compare_captures
from torchlift.testing.comparison import CapturesDiffer, Comparison, Difference
from torchlift.testing.inputs import Inputs
from torchlift.testing.processes import FreshProcesses, TorchUnavailable
from torchlift.testing.programs import Program, ProgramComparison, compare_programs, run_program
from torchlift.testing.verdict import Verdict

__all__ = [
    "CapturesDiffer",
    "Comparison",
    "Difference",
    "FreshProcesses",
    "Inputs",
    "Program",
    "ProgramComparison",
    "TorchUnavailable",
    "Verdict",
    "compare_captures",
    "compare_programs",
    "run_program",
]
