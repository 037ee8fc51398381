"""torchlift itself: suppressions and files it could not analyse."""
