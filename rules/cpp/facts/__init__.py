"""What torch's C++ headers say, release by release, and what takes the place of what they lost."""
