"""Checks of the NVIDIA driver: its kernel modules, its libraries, and how both fit the GPUs and the installed torch."""
