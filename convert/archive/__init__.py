"""A model's file read without torch, and without believing it: bounded, nothing imported, nothing unpacked, nothing run."""
