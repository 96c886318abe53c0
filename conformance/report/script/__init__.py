"""What a reproduction script is made of.

The suite calls nothing of this: `repro.py` copies these functions into a script, after the constants of one case. So
they use the standard library alone, and what they share by name across files is in one file there. Each rank has a
process of its own, since the fault may be a hang, a death, a hash seed or the state of a global generator.

A line marked `# only: x` is copied only into scripts that need x. The constants and empty functions at the top of a
file are for the type checker: each script has its own.
"""
