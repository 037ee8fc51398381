"""torchlift: upgrade and migration assistant for PyTorch code bases."""

__version__ = "0.1.0"
