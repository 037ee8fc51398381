"""Rules about the files that say which torch is installed, and for which CUDA and GPUs."""
