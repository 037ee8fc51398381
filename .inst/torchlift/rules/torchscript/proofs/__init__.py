"""What recorded runs say about a capture, and which assumptions of the analyses that settles."""
