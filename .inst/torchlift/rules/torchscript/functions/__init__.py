"""Whether a scripted function does the same as a plain one."""
