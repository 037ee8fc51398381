"""The doctor: facts about a machine, checks over them, a diagnosis, and smoke kernels."""

if __name__ != "torchlift.doctor":
    raise ImportError("import torchlift.doctor; the bare folder is not a package of its own")
