"""`migrate --verify`: fixes tried on a copy of the project, by a command of the user; what makes it fail is left out."""
