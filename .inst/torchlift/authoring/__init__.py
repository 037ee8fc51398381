"""What somebody who writes a rule needs: a file to begin with, its examples tried, free codes, and what is still missing."""
