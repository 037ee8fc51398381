"""What torch and its companions added, deprecated, moved and removed, by release, and what takes its place: rules and the doctor read it."""
