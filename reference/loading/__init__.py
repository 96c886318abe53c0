"""A step and what goes into it: the request, collating, workers, errors, restarts."""
