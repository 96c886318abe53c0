"""Decides how the numbers of an epoch are shown: the tree of batches, a table of all numbers, and JSON.

The tree counts micro-batches, from the whole dataset over instances (the launcher's word for ranks) down to
replicas:

    1562 input batches
      390 batches for instance 0
        195 batches for replica 0
        195 batches for replica 1
      ...
      2 superfluous batches

It counts what is delivered, so each level adds up to the level above. (Cut in stages, an instance could have
one more batch than its replicas share evenly; the last line of the table shows those floors.)

When the rest is kept (--keep-last) nothing is superfluous, and a smaller last batch counts as a batch, in the
dataset and on each instance; so the instances' batches may add up to more than the dataset's. What does not
fill a whole step stands in a line of its own under its instance, because only full steps are shared evenly by
the replicas.

More than `SHOWN` instances, or replicas of one instance, are abbreviated to the first two and the last, so a
tree for a million instances is as small, and as fast, as one for ten. `--instance` shows any one of them instead.

Nothing is imported here that is not needed for the numbers: the command answers at once.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from .arithmetic import Plan, Share, ceil_div, chained_floors, make_plan
from .checks import check_integer, show

SHOWN = 8


def command(words: Sequence[str]) -> int:
    """Run `loaderspec plan` with these words after it; return the exit code."""
    parser = argparse.ArgumentParser(prog="loaderspec plan", description="The numbers of an epoch.")
    add_arguments(parser)
    return main(parser.parse_args(words))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the plan command; the values are checked in `main`."""
    for name, default, meaning in (
        ("--samples", None, "samples in the dataset"),
        ("--batch-size", None, "samples in a micro-batch"),
        ("--instances", 1, "processes, that is ranks (default 1)"),
        ("--replicas", None, "replicas of all instances together (default: one each)"),
        ("--device-iterations", 1, "device iterations (default 1)"),
        ("--gradient-accumulation", 1, "micro-batches accumulated (default 1)"),
    ):
        required = name in ("--samples", "--batch-size")
        parser.add_argument(name, type=_whole_number, metavar="N", default=default, required=required, help=meaning)
    parser.add_argument("--instance", type=_whole_number, metavar="I", help="show this instance, counted from 0")
    parser.add_argument("--keep-last", action="store_true", help="keep what does not fill a step")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def main(args: argparse.Namespace) -> int:
    """Print the plan that was asked for and return 0; print why there is none to stderr and return 2."""
    try:
        plan = _plan(args)
        share = None if args.instance is None else plan.share(_instance_asked(args.instance, plan))
    except (TypeError, ValueError) as error:
        print(f"loaderspec plan: {error}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(to_dict(plan, share), indent=2))
    else:
        print("\n".join([*tree(plan, share), "", *table(plan, share)]))
    return 0


def _instance_asked(instance: int, plan: Plan) -> int:
    return check_integer("--instance", instance, least=0, most=plan.ranks - 1)


def _plan(args: argparse.Namespace) -> Plan:
    instances = check_integer("--instances", args.instances)
    replicas = instances if args.replicas is None else check_integer("--replicas", args.replicas)
    if replicas % instances:
        raise ValueError(
            f"--replicas is {show(replicas)}, but must be divisible by --instances, {show(instances)}, as "
            f"each instance drives equally many: give {show(instances * (replicas // instances + 1))}, for "
            f"example."
        )
    return make_plan(
        samples=check_integer("--samples", args.samples, least=0),
        micro_batch=check_integer("--batch-size", args.batch_size),
        gradient_accumulation=check_integer("--gradient-accumulation", args.gradient_accumulation),
        replicas=replicas // instances,
        device_iterations=check_integer("--device-iterations", args.device_iterations),
        ranks=instances,
        drop_last=not args.keep_last,
    )


def _whole_number(text: str) -> int:
    """Read a number of the command line; a sentence says what is wrong with it."""
    # Products of such numbers still print: Python prints no int of more than 4300 digits.
    if len(text) > 1000:
        raise argparse.ArgumentTypeError(f"{show(text)} is too long: give at most 1000 digits.")
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{show(text)} is no whole number: write digits only.") from None


def to_dict(plan: Plan, share: Share | None = None) -> dict[str, object]:
    """Return every number of the plan by name, for JSON, and those of an instance if one is asked for."""
    return {
        **asdict(plan),
        "total_replicas": plan.replicas * plan.ranks,
        "stages": list(stages(plan)),
        **({} if share is None else {"instance": asdict(share)}),
    }


def stages(plan: Plan) -> tuple[int, ...]:
    """Return what cutting in stages leaves: micro-batches of all, per instance, per replica, and then steps.

    COUNT-3: under drop_last the last of them is the number of steps.
    """
    per_step = plan.gradient_accumulation * plan.device_iterations
    return chained_floors(plan.samples, plan.micro_batch, plan.ranks, plan.replicas, per_step)


def tree(plan: Plan, share: Share | None = None) -> list[str]:
    """Return the lines of the tree, of one instance if a share is given; see the module docstring."""
    lines = [_batches(plan.micro_batches, "input")]
    for rank in _shown(plan.ranks) if share is None else _only(share.rank, plan.ranks):
        lines += ["  ..."] if rank is None else [f"  {line}" for line in _instance(plan, rank)]
    return [*lines, f"  {_batches(plan.superfluous_micro_batches, 'superfluous')}"]


def _instance(plan: Plan, rank: int) -> Iterator[str]:
    """Yield the lines of one instance and its replicas."""
    share = plan.share(rank)
    full_steps, rest = divmod(share.samples, plan.combined_batch)
    per_replica = full_steps * plan.gradient_accumulation * plan.device_iterations
    # Rounded up, which matters only when the rest is kept: under drop_last a share is whole batches.
    yield f"{_batches(ceil_div(share.samples, plan.micro_batch))} for instance {rank}"
    for replica in _shown(plan.replicas):
        if replica is None:
            yield "  ..."
        else:
            yield f"  {_batches(per_replica)} for replica {rank * plan.replicas + replica}"
    if rest:
        yield f"  a last step of {rest} samples instead of {plan.combined_batch}"


def _shown(count: int) -> list[int | None]:
    """Return which of this many are shown; None stands for those left out."""
    return list(range(count)) if count <= SHOWN else [0, 1, None, count - 1]


def _only(rank: int, ranks: int) -> list[int | None]:
    return [*([None] if rank else []), rank, *([None] if rank < ranks - 1 else [])]


def _batches(count: int, kind: str = "") -> str:
    return f"{count} {kind}{' ' if kind else ''}{'batch' if count == 1 else 'batches'}"


def table(plan: Plan, share: Share | None = None) -> list[str]:
    """Return a line for every number of the plan: name, value, and how it comes about."""
    steps = str(plan.steps)
    if plan.fewest_steps != plan.steps:
        steps += f", or {plan.fewest_steps}"
    rows = [
        ("samples", plan.samples, ""),
        ("micro-batch", plan.micro_batch, "samples"),
        ("gradient accumulation", plan.gradient_accumulation, ""),
        ("replicas of an instance", plan.replicas, f"of {plan.replicas * plan.ranks} in all"),
        ("device iterations", plan.device_iterations, ""),
        ("instances", plan.ranks, ""),
        ("replica batch", plan.replica_batch, "= micro-batch x gradient accumulation"),
        ("global batch", plan.global_batch, "= replica batch x replicas of an instance"),
        ("combined batch N", plan.combined_batch, "= global batch x device iterations = samples of a step"),
        ("steps of an instance", steps, "floor" if plan.drop_last else "ceil"),
        ("last step", plan.last_step, "samples, on instance 0"),
        ("samples used", plan.samples_used, "in an epoch, by all instances"),
        ("samples left over", plan.samples_left_over, "fewer than N x instances" if plan.drop_last else ""),
    ]
    if plan.drop_last:
        rows.append(("cut in stages", " -> ".join(map(str, (plan.samples, *stages(plan)))), ""))
    if share is not None:
        rows += [
            (f"instance {share.rank}", share.samples, f"samples, from position {share.first} of the epoch's order on"),
            ("its steps", share.steps, f"the last one of {share.last_step} samples"),
        ]
    width = max(len(str(value)) for _, value, note in rows if note)
    return [f"{name:<24}{value!s:>{width}}  {note}".rstrip() for name, value, note in rows]
