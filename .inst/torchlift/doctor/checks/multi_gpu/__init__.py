"""Checks of GPUs together: peer-to-peer access, NVLink, mixed models."""
