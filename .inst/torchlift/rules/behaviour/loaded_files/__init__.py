"""What files that torch saves and loads hold, as far as code tells."""
