"""Runs the code of one rank, as far as it can be known without its data.

`reading.exchanges` is the way in: it finds the functions of a file that send or receive, runs each for all ranks of several
world sizes, and gives what every rank posts and waits for, in the words of `p2p.program`; `p2p.engines` plays that back.

Ranks, world sizes and what is computed from them are real numbers, and Python does with them what it does. Tensors, settings
and all else that comes from outside are `values.Unknown`, which say how they relate to the rank (`values.Level`) and why they
are not known. Where a condition is unknown, both branches run and what differs afterwards is unknown. As soon as something
is posted or waited for while it depends on such a condition, reading ends: with `values.CommonChoice` where the condition is the
same on every rank, so that `reading` tries both answers, and with `values.Open`, which no rule reports as a fact, otherwise.
Nothing is guessed: what cannot be followed poisons what it touches. A second reading, with a `values.Layout`, takes names at
their word and what comes from outside for the same on every rank; `p2p.at_their_word` asks for it where the first stays open.

One run is a `rank_run.RankRun`. Its parts, each a class that `RankRun` inherits, and what they share:

    rank_state      doubts, choices and limits of the run; what the parts ask of each other
    statements      statements: what they store where, and which of them run
    loops           loops and comprehensions
    failures        `try` and `with`: what is bound where an error in the middle is caught
    expressions     operators, displays, subscripts, strings
    names           names, attributes, imports
    objects         own operators and attributes of objects, and what code elsewhere may do with them
    calls           functions, methods and classes of the project, with their arguments bound
    unknown_calls   what is not in the file: builtins, the environment, torch; whether it may communicate
    messages        functions of torch.distributed and methods of groups and handles
    meanings        what names such as `next_rank` obviously mean

    ends            how blocks end, and what a caught error finds
    values          what an expression can be worth
    keys            texts and keys of expressions
    operators       Python's operators, functions and methods on such values
    communication   groups, handles and the posts of one rank
    code            the file: who calls whom, which functions communicate, which names hold the rank

What may not run, or not to its end, is treated in one way: it is run in doubt, and what it binds or changes is one thing or
the other behind it (`RankState._doubting`, `_perhaps`, `ends.Landing`; `Statements._merge` joins the ends of a block). What escapes to
code that is not followed is not known any more (`Objects._escape`).

`tests/rules/distributed/test_p2p_reading_agrees_with_python.py` compares what is posted with what Python does when the same code
is run, `test_p2p_numbers_agree_with_python.py` the numbers.
"""
