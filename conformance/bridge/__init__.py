"""A loader that is not Python: decides how a command is judged that speaks the lines of specs/bridge.md.

    --impl="stdio:node loader.js"
        |
    implementation.py   starts the command once, to ask what it claims, and makes an implementation like any other
        |
    loader.py           what the suite reads: an iterable of one rank; each call of it is a line to the process
        |
    exchange.py         one line there, one back, and in between what the loader asks for: samples, by their handles
        |
    handles.py          samples and exceptions stay on this side; the loader moves their numbers
    process.py          the command's process: lines in, lines out, its end

A rank's process has one process of the command, for all loaders that it makes one after the other: a start costs more
than most runs. Samples never cross, so what is recorded of reads, the drawn faults and the exception itself are the
same as those of a Python loader. What can't be judged so is in `beyond.py`, with the reason; `check.py` is the command
that tests a loader's side of the lines apart from the loader.
"""
