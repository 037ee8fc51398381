"""`torchlift survey`: many repositories as one table, what breaks in them and in which order to migrate them."""

if __name__ != "torchlift.survey":
    raise ImportError("import torchlift.survey; the bare folder is not a package of its own")
