"""What a project asks for, read from its files with the place of every part: packages, indexes, images, Python."""
