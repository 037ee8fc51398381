"""Options that only chose TorchScript: parameters of functions and of commands."""
