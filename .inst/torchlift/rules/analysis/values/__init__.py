"""What an expression may be."""
