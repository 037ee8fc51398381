"""The smokes: one file each, named after its id, binding `SMOKE`."""
