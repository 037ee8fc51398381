"""Error messages that torch, its compilers and the drivers print: what each means, and where in a log the first cause stands."""
