"""What torch itself says about TorchScript: names, bindings, operations, deprecations."""
