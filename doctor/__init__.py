"""The doctor: facts about a machine, checks over them, a diagnosis, and smoke kernels."""
