"""Hints to the TorchScript compiler, and how to fold them."""
