"""What runs inside of a recorded program: hooks on torch that see what is captured, called, written, read and sent.

Loaded by path as `_torchlift_record`, in the program's own interpreter: Python 3.9 and newer, standard library and torch
only, no import of torchlift. Nothing here may change what the program does. So a hook that fails goes silent and says so in
the spool (`guard`), holds no object alive, draws no random number, leaves no file open, and is not seen in tracebacks.

`arrival` waits for torch, `installing` places all hooks. Functions of torch that are Python are watched from inside of their
own code (`inside`), so their identity, their frames and their line numbers stay; what is C++ or inherited is watched from around
(`around`). What was seen goes to the spool, a file for each process, one JSON object a line (`spool`).
"""
