"""Forms that CI systems read, whatever is told in them, and the files that they are written to."""
