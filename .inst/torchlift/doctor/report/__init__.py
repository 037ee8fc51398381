"""Reports: text made from an `Examination` and from nothing else."""
