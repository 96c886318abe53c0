"""The record of a job: what its loaders delivered, written while it runs. `writer.py` writes it, `reader.py` reads it.

A record is a folder with a file for each process start. A file is a sequence of frames (`frames.py`): facts as JSON,
blocks of deliveries (`blocks.py`), and a closing frame at a clean end. It can be cut anywhere, and is read to where it
is good. `specs/watching.md` describes the format, for writing it in another language.

This room is imported by the job that is recorded: the writing half needs the standard library and nothing else.
"""
