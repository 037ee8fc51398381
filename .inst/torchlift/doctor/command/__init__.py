"""From the options of `torchlift doctor` to what is done: which machine, which questions, how the answer is given."""
