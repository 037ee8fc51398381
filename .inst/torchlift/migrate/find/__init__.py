"""Which files rules want to see, and what they find in them."""
