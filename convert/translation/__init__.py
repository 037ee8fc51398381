"""The code of an archive as a Python module that does the same: text of our own making, from vetted syntax and known words.

Nothing of the archive is executed as it stands. Its statements are written anew: names of classes are ours, operators are
those that torch has under that name, and what has no counterpart is refused by name. Runs where torch is.
"""
