"""Which wheel, toolkit and companion goes with which torch, CUDA and GPU."""
