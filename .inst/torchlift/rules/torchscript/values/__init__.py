"""Following a captured value through its life."""
