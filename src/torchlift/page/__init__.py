"""Reports as one page for a browser: self-contained, without scripts, light and dark, safe whatever a name in them may try."""
