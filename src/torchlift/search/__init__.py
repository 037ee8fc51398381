"""Which files can matter, told from their bytes."""
