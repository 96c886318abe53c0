"""A loader that lives through more than one thing: what a consumer does with each of its epochs but the last."""

from conformance.loader.conducts import CONDUCTS, Conduct
from conformance.loader.living import FURTHER_LIVES, LISTED_LIVES, LIVES

# What becomes of the first epoch beside a user's sampler.
DISTURBED = {
    "left": "the first epoch left after a step",
    "failed": "the first epoch ended by an error",
    "held": "the first epoch held after a step, and read to its end after the others",
}
# The hooks that are asked for, and looked at.
HOOKS = {
    "collated": "each call of the collate function noted",
    "begun": "each call of the worker initialiser noted",
    "lasting": "the processes of the workers noted",
    "sampler": "a sampler of the user's own",
    "batches": "a batch sampler of the user's own",
    "generator": "a generator of the user's own",
    "restored": "and a rest read from a state",
    **DISTURBED,
}
CONDUCTS.update(
    {
        "hooked": Conduct("read epoch after epoch", "conformance.faults.conduct", details=HOOKS),
        "orders": Conduct(
            "the first step alone of 24 epochs",
            "conformance.faults.conduct",
            details={"saved": "a state taken after each"},
            calm=True,
        ),
        "killed": Conduct(
            "the process that reads is killed after step {}",
            "conformance.faults.conduct",
            waits=2,
            calm=True,
            watched=True,
        ),
        "lives": Conduct(
            "a whole epoch after these",
            "conformance.faults.conduct",
            details={**LIVES, **FURTHER_LIVES, **LISTED_LIVES},
            fails_in="failed",
        ),
    }
)
