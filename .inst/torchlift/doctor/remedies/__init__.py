"""What to do: commands and sentences that fit the examined machine."""
