"""What comes of a run: files written, findings and diffs shown."""
