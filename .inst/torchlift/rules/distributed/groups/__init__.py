"""Which process group a call means, and on which backend."""
