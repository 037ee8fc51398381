"""What torch.distributed and its environment are called."""
