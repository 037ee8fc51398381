"""Which fixes are applied, the edits they become, and the checks on the result."""
