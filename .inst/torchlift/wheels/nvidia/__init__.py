"""The wheel for NVIDIA GPUs: what of all offers runs here, and what is answered with it."""
