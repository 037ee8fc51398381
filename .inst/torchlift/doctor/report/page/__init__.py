"""The report as one page for a browser: self-contained, without scripts, light and dark."""
