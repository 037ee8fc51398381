"""The pages, for `torchlift help`."""
