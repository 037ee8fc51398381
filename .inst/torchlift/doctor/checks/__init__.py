"""All checks. A check is one file in the folder of its group; nothing else needs to be told."""
