"""`torchlift inspect`: what a file of a model is, said without torch."""
