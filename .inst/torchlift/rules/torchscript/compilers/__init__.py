"""Who compiles code with TorchScript, and what that reaches."""
