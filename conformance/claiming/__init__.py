"""What a loader's author has not written yet: the adapter (`init`), and what it can promise (`claims`)."""
