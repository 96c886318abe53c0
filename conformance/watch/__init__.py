"""Watching a job that runs as it is: decides what is taken where, and starts the job with that in place.

    loaderspec watch -- torchrun --nproc-per-node=2 train.py

`site/` is a folder that stands in front of PYTHONPATH, so that every Python that the job starts runs our hook first.
The hook says hello, and taps a few modules when the job imports them: torch's loader (`taps.py`, `fetching.py`),
torchdata's, accelerate's, torch's DeviceMesh. The taps write facts into a record (`conformance/records`), and judge
nothing.

`command.py` is `loaderspec watch`, `check/` is `loaderspec check`. Nothing that a tap imports may need more than the
standard library, numpy, and what the job has imported itself.
"""
