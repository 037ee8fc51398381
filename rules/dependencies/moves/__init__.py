"""Requirements that move together, or are held."""
