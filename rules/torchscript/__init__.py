"""TorchScript and its successors."""
