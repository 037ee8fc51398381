"""What changed its name, its arguments or its place, and since when: tables, most of them kept by hand."""
