"""What files install, and what they are installed into and for."""
