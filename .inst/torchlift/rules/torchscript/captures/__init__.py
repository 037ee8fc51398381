"""Writing an export in the place of a trace or a script."""
