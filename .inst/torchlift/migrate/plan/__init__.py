"""What leaving TorchScript takes: questions that only the user can answer, ranked by what each answer decides."""
