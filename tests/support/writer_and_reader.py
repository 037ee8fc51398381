"""A project whose one file writes an artifact that another reads."""

MODEL = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))
"""
WRITER = """\
import torch

from model import Net

net = Net().eval()
torch.jit.trace(net, torch.rand(2, 3)).save("net.pt")
"""
READER = """\
import torch


def serve(x):
    return torch.jit.load("net.pt")(x)
"""
FILES = {"model.py": MODEL, "writer.py": WRITER, "reader.py": READER}
