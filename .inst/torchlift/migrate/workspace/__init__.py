"""What the project is: its root, its files, its configuration, the torch it supports and what git says about it."""
