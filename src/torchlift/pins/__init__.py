"""Where a project's files name packages, wheel indexes, images and GPU architectures: exact places, one reader a format."""
