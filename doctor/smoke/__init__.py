"""Smokes: small programs that prove an installation on its hardware.

The package has two sides. `smoke`, `bench`, `gates`, `signatures`, `devices`, `trial`, `ranks`, `zygote` and everything
in `smokes` run under the interpreter that is examined, which need not have torchlift: they are loaded from this folder
as `torchlift_smoke` (see `boot`), use nothing but the standard library and torch, and keep to Python 3.9. The rest runs
in torchlift's own process and never imports torch.
"""
