"""Functions that leave an operation open, so that others may overlap with it."""

OVERLAPPING = frozenset({"torch.distributed.isend", "torch.distributed.irecv"})
