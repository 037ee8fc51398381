"""What a project asks of torch, read from its files: requirements, package indexes, Python."""
