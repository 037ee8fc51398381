"""`torchlift server`: findings and fixes while a file is being edited, for every editor that speaks the Language Server Protocol."""

if __name__ != "torchlift.server":
    raise ImportError("import torchlift.server; the bare folder is not a package of its own")
