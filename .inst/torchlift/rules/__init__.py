"""What torchlift knows: one file a rule, tables for plain renames and removals."""

if __name__ != "torchlift.rules":
    raise ImportError("import torchlift.rules; the bare folder is not a package of its own")
