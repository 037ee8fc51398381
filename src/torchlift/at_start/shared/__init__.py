"""What every room can import as a file of its own."""
