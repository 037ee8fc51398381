"""What the project is: installed, tested, with which packages, in which environment."""
