"""From rewrites of the syntax to edits of the text, built with LibCST. Imported only when something is to be rewritten."""
