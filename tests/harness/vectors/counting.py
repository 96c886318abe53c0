"""When a clause counts in a verdict vector, in words and as a condition: the table of `specs/vectors/README.md`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Condition = Callable[["Case"], bool]


@dataclass(frozen=True)
class Case:
    """A verdict vector in the letters of the chapters."""

    given: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        """A field of the request, or what it is where it is not given."""
        usual = {"dataset": "map", "conduct": "", "refusal": "", "shuffle": False, "num_workers": 0}
        return self.given["request"].get(name, usual.get(name, 1))

    @property
    def claims(self) -> dict[str, Any]:
        """The claims."""
        return dict(self.given["claims"])

    @property
    def policy(self) -> str:
        """The policy that this `drop_last` asks for, or ""."""
        return str(self.claims.get("when_dropping" if self.drop_last else "when_keeping", ""))

    @property
    def factor(self) -> int:
        """g x r x d."""
        return int(self.gradient_accumulation * self.replication_factor * self.device_iterations)

    @property
    def step(self) -> int:
        """N."""
        return int(self.batch_size * self.factor)

    @property
    def epochs_of_ranks(self) -> list[list[list[int]]]:
        """Each epoch of each rank, as its steps."""
        return [epoch for rank in self.given["delivered"] for epoch in rank]

    def most(self, foreign: bool = True) -> int:
        """The samples that a rank has in an epoch, at most."""
        counts = [
            sum(foreign or 0 <= sample < self.samples for step in epoch for sample in step)
            for epoch in self.epochs_of_ranks
        ]
        return max(counts, default=0)

    @property
    def small(self) -> bool:
        """Whether the dataset is below the claimed `smallest`."""
        smallest = self.claims.get("smallest", 0)
        named = {"world_size": self.world_size, "step": self.step * self.world_size}
        return int(self.samples) < int(named.get(smallest, smallest))

    @property
    def sized(self) -> bool:
        """Whether the policy gives a shard its size."""
        return bool(self.policy) and (self.policy != "once" or self.world_size == 1)

    @property
    def shared(self) -> bool:
        """Whether a policy is promised to unshuffled samples."""
        return bool(self.policy) and not self.shuffle and self.samples > 0


def _layout(case: Case) -> bool:
    if "layout" not in case.claims or not case.policy or case.shuffle or case.world_size == 1:
        return False
    if case.policy == "pad":
        rest = -(-case.samples // case.world_size) % case.step > 0
        if case.claims.get("in_order") is False or (case.claims["layout"] == "contiguous" and case.drop_last and rest):
            return False
    return case.most() > 1 or "ORDER-2" in case.given["fires"]


def _bound(case: Case) -> int:
    """What EQUAL-2 lets a case lose."""
    workers = max(1, case.num_workers)
    if "shards" not in case.given["request"]:
        return int(workers * case.world_size * case.step - 1)
    files = sorted(case.shards)
    if not case.claims.get("equal_steps"):
        return sum(each % case.step for each in files) if case.drop_last else 0
    least = workers * (len(files) // (workers * case.world_size))
    return int(case.samples - case.world_size * sum(each // case.step for each in files[:least]) * case.step)


def _shared_stream(case: Case) -> bool:
    shared = case.dataset == "iterable" and case.claims.get("iterable_workers") == "split"
    return shared and "drops" not in case.claims


def _may_lack(case: Case) -> int:
    """What a pass may lack."""
    if case.drop_last or not case.policy:
        return int(case.step * case.world_size - 1)
    return case.world_size - 1 if case.policy == "drop" else 0


def _goes_on(case: Case) -> bool:
    ends = {len(epoch) for epoch in case.epochs_of_ranks}
    shard = -(-case.samples // case.world_size)
    return "failed" not in case.given and ends == {case.epochs * -(-shard // case.step)}


# What has no condition here hangs on chance, which ORDER-6 derives.
ROWS: dict[str, tuple[str, Condition | None]] = {
    "BATCH-1": (
        "it fires, or a rank delivers N samples or more in an epoch",
        lambda case: case.most() >= case.step or "BATCH-1" in case.given["fires"],
    ),
    "BATCH-2": (
        "a rank has two steps that hold samples in an epoch; under `drop_last` one",
        lambda case: any(sum(map(bool, each)) > 1 - case.drop_last for each in case.epochs_of_ranks),
    ),
    "BATCH-3": (
        "not shuffled, a device factor is above 1, and a step holds two samples",
        lambda case: (
            not case.shuffle
            and case.factor > 1
            and any(len(step) > 1 for each in case.epochs_of_ranks for step in each)
        ),
    ),
    "COUNT-1": (
        '`drop_last`, no device factor above 1, and the policy gives a shard its size (`"once"` does on one rank)',
        lambda case: case.drop_last and case.factor == 1 and case.sized,
    ),
    "COUNT-2": ("no `drop_last`, and such a policy", lambda case: not case.drop_last and case.sized),
    "COUNT-3": (
        "`drop_last`, a device factor above 1, and such a policy",
        lambda case: case.drop_last and case.factor > 1 and case.sized,
    ),
    "COUNT-4": ("always", lambda case: True),
    "COUNT-5": (
        'R is 2 or more, and the policy `"drop"` or `"pad"`',
        lambda case: case.world_size > 1 and case.policy in ("drop", "pad"),
    ),
    "COUNT-6": ("n < N x R", lambda case: case.samples < case.step * case.world_size),
    "COUNT-7": ("n >= N x R", lambda case: case.samples >= case.step * case.world_size),
    "PART-1": ("not shuffled, n >= 1, and there is a policy", lambda case: case.shared),
    "PART-2": (
        'the same, no `drop_last`, and the policy is not `"drop"`',
        lambda case: case.shared and not case.drop_last and case.policy != "drop",
    ),
    "PART-3": (
        'as PART-1, and `drop_last` or the policy is `"drop"`',
        lambda case: case.shared and (case.drop_last or case.policy == "drop"),
    ),
    "PART-4": ('as PART-1, and the policy is `"pad"`', lambda case: case.shared and case.policy == "pad"),
    "PART-5": ("anything is delivered", lambda case: case.most() > 0),
    "PART-6": (
        'not shuffled, R is 2 or more, and there is a policy but `"once"`; n may be 0',
        lambda case: not case.shuffle and case.world_size > 1 and case.policy in ("drop", "pad", "uneven"),
    ),
    "PART-8": ("shuffled, `drop_last`, a policy, and the epochs do not come round again, as told below", None),
    "ORDER-1": (
        "not shuffled, and a rank delivers two samples of the dataset in an epoch",
        lambda case: not case.shuffle and case.claims.get("in_order") is not False and case.most(foreign=False) > 1,
    ),
    "ORDER-2": (
        "not shuffled, R is 2 or more, a policy, and it fires or a rank delivers two values in an epoch, foreign ones "
        'too; under `"pad"` with two exceptions, told below',
        _layout,
    ),
    "ORDER-3": (
        "shuffled, R is 1, n >= 1, and a policy",
        lambda case: case.shuffle and case.world_size == 1 and case.samples > 0 and bool(case.policy),
    ),
    "ORDER-4": (
        "the same, and R is 2 or more",
        lambda case: case.shuffle and case.world_size > 1 and case.samples > 0 and bool(case.policy),
    ),
    "ORDER-6": (
        "shuffled, two epochs or more, and that all of them are alike would be no chance; not with "
        '`assignment="dynamic"` on two ranks or more',
        None,
    ),
    "DRAW-6": ("there is no policy, and anything is delivered", lambda case: not case.policy and case.most() > 0),
    "WORK-3": (
        'n >= 1 and not below `smallest`, and elements are not `"replicated"`',
        lambda case: case.samples > 0 and not case.small and case.claims.get("iterable_workers") != "replicated",
    ),
    "WORK-4": (
        'n >= 1 and not below `smallest`, and elements are `"replicated"`',
        lambda case: case.samples > 0 and not case.small and case.claims.get("iterable_workers") == "replicated",
    ),
    "WORK-5": (
        "n >= 1, `drop_last`, no claim of `drops`, and, where `equal_steps` is claimed, R is 1",
        lambda case: (
            case.samples > 0
            and case.drop_last
            and "drops" not in case.claims
            and not ("equal_steps" in case.claims and case.world_size > 1)
        ),
    ),
    "WORK-6": (
        "a rank delivers two values in an epoch, foreign ones too",
        lambda case: case.most() > 1 and case.claims.get("in_order") is not False,
    ),
    "EQUAL-1": (
        '`equal_steps`, R is 2 or more, and the dataset iterable or the policy neither `"drop"` nor `"pad"`; where it '
        "`failed`, not below `smallest`",
        lambda case: (
            "equal_steps" in case.claims
            and case.world_size > 1
            and not ("failed" in case.given and case.small)
            and (case.dataset == "iterable" or case.policy not in ("drop", "pad"))
        ),
    ),
    "EQUAL-2": (
        "R is 2 or more, less than n may be lost, and either there are `shards`, or the dataset is iterable with "
        '`"split"` elements and no claim of `drops`',
        lambda case: (
            case.world_size > 1
            and _bound(case) < case.samples
            and ("shards" in case.given["request"] or _shared_stream(case))
        ),
    ),
    "ENDLESS-1": (
        "n >= 1 and not below `smallest`; and it fires, or n >= R, under `drop_last` n >= N x R",
        lambda case: (
            case.samples > 0
            and not case.small
            and ("ENDLESS-1" in case.given["fires"] or case.samples >= case.world_size * (case.step**case.drop_last))
        ),
    ),
    "ENDLESS-2": (
        "every rank has all the steps that were read for, due or not, and a pass may lack less than half of the "
        "samples",
        lambda case: _goes_on(case) and 2 * _may_lack(case) < case.samples,
    ),
}


def table() -> str:
    """The table as the README has it."""
    rows = "\n".join(f"| {clause} | {words} |" for clause, (words, _) in ROWS.items())
    return f"| clause | counts when |\n|---|---|\n{rows}\n"
