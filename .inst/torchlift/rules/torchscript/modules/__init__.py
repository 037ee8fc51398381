"""Reading a module class."""
