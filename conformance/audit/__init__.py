"""Judging a record: from a folder of files to findings with their lines of source, for `audit` and for `watch`.

    files of a record
        |
    gather.py    streams the files side by side, a block at a time, into tallies
        |
    summary.py   what is kept: small, and mergeable in any grouping (--partial, --merge)
        |
    view.py      one loader of it, and epochs.py its epochs, as a judge looks at them
        |
    judges_*.py  findings (finding.py), and what can't be told; text.py shows them

A judge sees nothing but the summary, so that the verdict over one folder and over merged parts is the same.
"""
