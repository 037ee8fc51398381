"""Process groups and communication."""
