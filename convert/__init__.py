"""`torchlift inspect` and `torchlift convert`: files of models, what is in them, and ExportedPrograms in their place."""
