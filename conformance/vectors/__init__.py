"""The golden vectors that the suite itself answers: verdicts of its judges, and lines of the bridge.

    python -m conformance.vectors            writes the files
    python -m conformance.vectors --check    exits with 1, and says why, if a file differs

Those of arithmetic, shards and orders come from the reference (`python -m reference.rules.vectors`), so that the two
check each other: a delivery of the reference's that a judge accuses is a fault of one of them.
"""
