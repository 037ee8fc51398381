"""The side of torchlift: it chooses smokes, starts the process that runs them, judges and reports."""
