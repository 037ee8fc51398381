"""Statements that let the examples of rules about NCCL run on gloo: real groups, with the device recorded."""

from __future__ import annotations

# Up to torch 2.14 a group works on the device that is current at its first collective; with `device_id` on that one. The
# stand-in works it out in the same way, so a right `device_id` changes nothing.
ON_GLOO = """\
import os
import torch
import torch.distributed as dist

current, bound, make_group = [], [], dist.init_process_group
as_device = lambda device: torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
torch.cuda.set_device = lambda device: current.append(as_device(device))
torch.cuda.device_count = lambda: 2


def on_gloo(backend=None, *args, device_id=None, **kwargs):
    bound.append((device_id, "nccl" in backend))
    make_group("gloo", *args, **kwargs)


def used():
    numbers = torch.full((3,), dist.get_rank() + 1.0)
    dist.all_reduce(numbers)
    device, on_nccl = bound[-1]
    return str(device or current[-1]) if on_nccl else str(device), numbers


dist.init_process_group = init_process_group = on_gloo
"""
"""Put in front of an example's `run`; `used()` is the device of the group and the result of an all-reduce in it."""

GPU = "torch.cuda.is_available = lambda: True\n"
"""Makes the example believe that there is a GPU."""
