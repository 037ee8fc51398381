"""What follows from the facts about a machine. Nothing here knows a check or a remedy."""
