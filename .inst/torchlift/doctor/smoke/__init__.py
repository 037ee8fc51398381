"""Smokes: small programs that prove an installation on its hardware.

The package has two sides. The files of this folder and of `smokes` run under the interpreter that is examined, which
need not have torchlift: they are loaded from this folder as `torchlift_smoke` (see `parent.torch_process`), use nothing
but the standard library (hence its `dataclass`) and torch, and keep to Python 3.9. What is in `parent` runs in torchlift's own process and never
imports torch.
"""
