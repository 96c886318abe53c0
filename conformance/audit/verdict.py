"""The verdict over a record: decides which loaders are shown, in which order, and what is one finding."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.audit import (
    counted,
    judges_beside,
    judges_counted,
    judges_cut_off,
    judges_cycled,
    judges_draws,
    judges_empty,
    judges_first_batch,
    judges_folds,
    judges_left,
    judges_names,
    judges_order,
    judges_passes,
    judges_random,
    judges_restarts,
    judges_samples,
    judges_seeds,
    judges_splits,
    judges_steps,
    judges_streams,
    judges_subsets,
    judges_uncovered,
    judges_unheard,
    record_notes,
    replicas,
)
from conformance.audit.counted import Counted, counts, of_view
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.gather import Progress, gather
from conformance.audit.never_came import over_epochs
from conformance.audit.resumed import first_parts
from conformance.audit.summary import GroupKey, Summary
from conformance.audit.titles import title
from conformance.audit.view import Replicas, View

EXIT_NOTHING_FOUND, EXIT_FINDINGS, EXIT_USAGE, EXIT_NOTHING_RECORDED = 0, 1, 2, 3
NOTE = "note"
# What is said of a loader over all its epochs, in this order.
_OF_A_LOADER = (
    judges_beside.judge_view,
    judges_cut_off.judge_view,
    judges_cycled.judge_view,
    judges_draws.judge_view,
    judges_empty.judge_view,
    judges_first_batch.judge_view,
    judges_order.judge,
    judges_left.judge_view,
    judges_passes.judge_view,
    judges_random.judge,
    judges_restarts.judge,
    judges_steps.judge_view,
    judges_subsets.judge_view,
    judges_uncovered.judge_view,
    judges_splits.judge_view,
    judges_names.judge_view,
    judges_streams.judge_view,
    judges_folds.judge_view,
    judges_unheard.judge_view,
)
# Counts of more bytes are packed again when their epoch is judged.
_LARGE = 1 << 20


@dataclass(frozen=True)
class Judged:
    """One loader: what it is, what is wrong, and what else there is to say."""

    key: GroupKey
    file: str
    line: int
    title: str
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    unused: bool = False  # it was made, and never iterated


@dataclass(frozen=True)
class Verdict:
    """What was found in a record. `notes` are about the record itself."""

    groups: tuple[Judged, ...]
    notes: tuple[str, ...]
    recorded: bool
    same_data: Replicas = ()
    unnamed: tuple[str, ...] = ()  # why it is not known who some samples are
    unknown: str = ""  # which ranks of --same-data, or which loaders of --samples, the job does not have
    by_index: bool = False  # samples of a loader are known by their index alone: what is in them was not looked at
    uncounted: bool = False  # nobody says how many samples a stream has that was read to its end

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, worst first."""
        found = [finding for group in self.groups for finding in group.findings]
        return tuple(sorted(found, key=lambda finding: (-finding.worst, finding.id, finding.file, finding.line)))

    @property
    def exit_code(self) -> int:
        """0: nothing found; 1: findings; 2: an option names ranks or loaders that are not there; 3: nothing was
        recorded, or not who the samples are.
        """
        if self.findings:
            return EXIT_FINDINGS
        if self.unknown:
            return EXIT_USAGE
        return EXIT_NOTHING_FOUND if self.recorded and not self.unnamed else EXIT_NOTHING_RECORDED

    def of_iterated(self) -> "Verdict":
        """The verdict without loaders that were made and never iterated."""
        return replace(self, groups=tuple(each for each in self.groups if not each.unused))

    def without(self, finding: Finding, reason: str) -> "Verdict":
        """The verdict in which a finding is accepted: it is told, with the reason, and held against nobody."""
        told = replace(finding, id=NOTE, sentence=f"{finding.id} is accepted ({reason}): {finding.sentence}")
        groups = tuple(
            replace(
                group,
                findings=tuple(each for each in group.findings if each is not finding),
                notes=(*group.notes, told) if finding in group.findings else group.notes,
            )
            for group in self.groups
        )
        return replace(self, groups=groups)


def audit_folder(
    folder: Path,
    same_data: Sequence[Sequence[int]] = (),
    progress: Progress = lambda done, all_of_it: None,
    samples: Sequence[Counted] = (),
) -> Verdict:
    """Judge the record in a folder. `same_data` are groups of ranks that must get the same data, and `samples` how many
    there are.

    FileNotFoundError if there is no such folder.
    """
    return judged(gather(folder, progress), same_data, samples)


def judged(summary: Summary, same_data: Sequence[Sequence[int]] = (), samples: Sequence[Counted] = ()) -> Verdict:
    """The verdict over a summary."""
    same = replicas.in_force(summary, same_data)
    views = [View(key, summary.groups[key], summary, same) for key in sorted(summary.groups)]
    groups = _told_apart([_judged(view, samples) for view in views])
    unnamed = tuple(sorted({why for process in summary.processes for why in process.unnamed}))
    no_rank, no_loader = replicas.unknown(summary, same_data), [*counted.unknown(views, samples)]
    unknown = no_rank or next((each for each in no_loader if each.startswith("--")), "")
    same_told = [no_rank] if no_rank else replicas.told(summary, same_data)
    about = (*same_told, *no_loader, *record_notes.about(summary))
    notes = (*(f"samples can't be identified: {why}" for why in unnamed), *about)
    read = [view.facts for view in views if view.group.epochs]
    by_index = any(facts.get("kind") == "map" and facts.get("ids", "index") == "index" for facts in read)
    uncounted = any(counts(view) and of_view(view, samples) is None and _trains_to_an_end(view) for view in views)
    return Verdict(groups, notes, bool(read), same, unnamed, unknown, by_index, uncounted)


def _trains_to_an_end(view: View) -> bool:
    return not view.evaluates and any(epoch.whole and epoch.rows for epoch in epochs_of(view))


def _judged(view: View, told: Sequence[Counted]) -> Judged:
    found: list[Finding] = []
    epochs = epochs_of(view)
    found += over_epochs(view, _merged(view, _one_cause(epochs, [_of_epoch(epoch) for epoch in epochs])))
    found += judges_counted.judge_view(view, of_view(view, told))
    found += [each for judge in _OF_A_LOADER for each in judge(view)]
    found = judges_random.with_cause(found)
    findings = sorted((each for each in found if each.id != NOTE), key=lambda each: (-each.worst, each.id, each.key))
    return Judged(
        view.key,
        view.file,
        view.line,
        title(view),
        tuple(findings),
        tuple(each for each in found if each.id == NOTE),
        not view.group.epochs,
    )


def _told_apart(groups: Sequence[Judged]) -> tuple[Judged, ...]:
    """The loaders, where one line made several that look alike each with its number."""
    lines: dict[tuple[str, int], list[Judged]] = {}
    for group in groups:
        lines.setdefault((group.file, group.line), []).append(group)
    alike = {line for line, some in lines.items() if len({each.title for each in some}) < len(some)}
    return tuple(
        replace(group, title=f"{group.title}, no. {here.index(group) + 1} of the {len(here)} that this line made")
        if (group.file, group.line) in alike
        else group
        for group in groups
        for here in [lines[group.file, group.line]]
    )


def _of_epoch(epoch: EpochView) -> list[Finding]:
    found = [*judges_samples.judge(epoch), *judges_steps.judge(epoch)]
    if epoch.epoch.counts.room > _LARGE:
        epoch.epoch.counts.pack()
    return found


def _one_cause(epochs: list[EpochView], found: list[list[Finding]]) -> list[list[Finding]]:
    """Where ranks shuffle by different seeds in one epoch, they do in others in which samples came to several ranks."""
    if not any(each.key in judges_seeds.KEYS for one in found for each in one):
        return found
    return [
        [
            judges_seeds.other_orders(epoch),
            *(each for each in one if (each.id, each.key) not in judges_seeds.OF_OTHER_ORDERS),
        ]
        if any((each.id, each.key) == ("PART-1", "again") for each in one) and not epoch.repeats.within_a_rank
        else one
        for epoch, one in zip(epochs, found, strict=True)
    ]


def _merged(view: View, found: Sequence[Iterable[Finding]]) -> list[Finding]:
    """What is found of several epochs is told once, of the first of them."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        for finding in one:
            kinds.setdefault((finding.id, finding.key), []).append(finding)
    return [_once(view, same) for same in kinds.values()]


def _once(view: View, same: list[Finding]) -> Finding:
    first = same[0]
    keys = tuple(dict.fromkeys(key for finding in same for key in finding.epochs))
    parts = view.group.epochs
    if len(parts) < 2:
        return replace(first, epochs=keys)
    # The parts of an epoch before and after a restart are one.
    begun = first_parts(view.group)
    epochs, these = ({begun.get(key, key) for key in some} for some in (parts, keys))
    alike = len({finding.sentence for finding in same}) == 1
    if len(keys) == 1:
        where = f" in {view.epoch_name(keys[0])}"
    else:
        where = " in each epoch" if len(these) == len(epochs) else f" in {len(these)} of {len(epochs)} epochs"
        where *= len(epochs) > 1
        where += "" if alike else f" (here {view.epoch_name(keys[0])})"
    head, colon, tail = first.sentence.partition(":")
    return replace(first, sentence=f"{head}{where}{colon}{tail}", epochs=keys)
