"""Examples that several rules share."""
