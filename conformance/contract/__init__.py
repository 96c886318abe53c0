"""The contract with an implementation: decides what an adapter may say and what a loader is asked for.

An adapter imports nothing of ours. It has `load(request)`, which returns one rank's loader, and `claims`, a dict of
what that loader promises. A promise that is not made is not judged; an unknown one is an error.
"""

from conformance.contract.claims import AHEAD, CHOICES, LIMITS, VALUES, Claims, Policy
from conformance.contract.implementation import (
    BY_NAME_ONLY,
    OFFERS,
    AdapterError,
    Elsewhere,
    Implementation,
    Offer,
)
from conformance.contract.parsing import parse_claims
from conformance.contract.request import LARGEST_SEED, Request

__all__ = [
    "AHEAD",
    "BY_NAME_ONLY",
    "CHOICES",
    "LARGEST_SEED",
    "LIMITS",
    "OFFERS",
    "VALUES",
    "AdapterError",
    "Claims",
    "Elsewhere",
    "Implementation",
    "Offer",
    "Policy",
    "Request",
    "parse_claims",
]
