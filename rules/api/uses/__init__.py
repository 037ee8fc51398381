"""How code uses what is old: its calls, its classes, and where it copes with a torch that lacks it."""
