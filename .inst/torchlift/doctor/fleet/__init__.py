"""Many machines at once: every rank examines its own, rank 0 tells how they differ. torchlift brings no scheduler."""
