"""Reports that other programs read: what is left, and what could not be done, in the form that each of them asks for."""
