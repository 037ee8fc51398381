"""Text on a terminal: whether it has colour, how wide its characters are, what must not reach it."""
