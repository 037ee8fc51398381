"""What a C++ file says: which lines are compiled with a release of torch, and which names stand in them."""
