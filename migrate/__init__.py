"""How a repository is read, changed and reported."""

if __name__ != "torchlift.migrate":
    raise ImportError("import torchlift.migrate; the bare folder is not a package of its own")
