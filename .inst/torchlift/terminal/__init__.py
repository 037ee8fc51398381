"""The terminal: how a command runs there, whether text has colour, how wide it is, what must not reach it."""
