"""Which device a process uses, and where it is said."""
