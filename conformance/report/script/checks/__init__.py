"""The clauses once more, as small functions that a reproduction script carries with it.

Each takes the case (the numbers of the scenario and the claims that bind it) and the runs (by name, for each rank its
epochs, failure and generator states, as plain namespaces), and gives the sentence that says what is wrong, or "".
They are simpler than the judges, use the standard library alone, and need to agree with the judges on one case only.
"""

from collections.abc import Callable
from types import SimpleNamespace

from conformance.report.script.checks import (
    ahead,
    arithmetic,
    batches,
    draws,
    faults,
    life,
    mixtures,
    order,
    partition,
    reach,
    restart,
    statistics,
    streams,
    subsets,
    workers,
)

Check = Callable[[SimpleNamespace, dict[str, list[SimpleNamespace]]], str]

CHECKS: dict[str, Check] = {
    "BATCH-1": arithmetic.full_steps,
    "BATCH-2": arithmetic.only_the_last_step_is_short,
    "BATCH-3": arithmetic.steps_in_order,
    "BATCH-4": arithmetic.refused,
    "BATCH-5": arithmetic.refused,
    "COUNT-1": arithmetic.number_of_steps,
    "COUNT-2": arithmetic.number_of_steps,
    "COUNT-3": arithmetic.number_of_steps,
    "COUNT-4": arithmetic.length_is_true,
    "COUNT-5": arithmetic.equal_steps,
    "COUNT-6": arithmetic.tiny_epochs_end,
    "COUNT-7": arithmetic.epochs_end,
    "PART-1": partition.nothing_twice,
    "PART-2": partition.nothing_lost,
    "PART-3": partition.nothing_lost,
    "PART-4": partition.padding_is_small,
    "PART-5": partition.nothing_foreign,
    "PART-6": partition.balanced,
    "PART-7": partition.same_shard,
    "PART-8": partition.nobody_left_out,
    "ORDER-1": order.dataset_order,
    "ORDER-2": order.layout,
    "ORDER-3": order.as_exact_as_unshuffled,
    "ORDER-4": order.as_exact_as_unshuffled,
    "ORDER-5": order.same_order,
    "ORDER-6": order.epochs_differ,
    "ORDER-7": order.seeds_differ,
    "ORDER-8": order.same_order,
    "ORDER-9": order.same_order,
    "ORDER-10": order.generators_not_reseeded,
    "ORDER-11": order.generators_not_drawn_from,
    "ORDER-12": statistics.uniform,
    "ORDER-13": statistics.mixes_across_ranks,
    "ORDER-14": order.seed_and_epoch_not_added,
    "WORK-1": workers.same_samples_with_workers,
    "WORK-2": workers.reads_once,
    "WORK-3": workers.split_over_workers,
    "WORK-4": workers.replicated_over_workers,
    "WORK-5": workers.bounded_loss,
    "WORK-6": workers.order_within_a_worker,
    "WORK-7": workers.worker_information,
    "WORK-8": workers.workers_draw_differently,
    "WORK-9": workers.ranks_draw_differently,
    "WORK-10": workers.epochs_draw_differently,
    "WORK-11": workers.draws_repeat,
    "WORK-12": life.whole_after_leaving,
    "WORK-13": life.two_iterators,
    "WORK-14": life.whole_after_an_error,
    "WORK-15": life.stays_at_its_end,
    "WORK-16": life.kept_batches_stay,
    "WORK-17": life.types_survive,
    "ASYNC-1": ahead.same_steps,
    "ASYNC-2": ahead.held_step_stays,
    "ASYNC-3": ahead.no_further_than_the_buffer,
    "ASYNC-4": ahead.early_as_asked,
    "ASYNC-5": ahead.next_epoch_as_asked,
    "ASYNC-6": ahead.begins_again,
    "ASYNC-7": ahead.errors_arrive,
    "ASYNC-8": ahead.ends_with_its_loader,
    "ASYNC-9": ahead.rebatched_once,
    "ASYNC-10": ahead.same_length,
    "ASYNC-11": ahead.odd_sample_is_seen,
    "RESUME-1": restart.the_rest_comes,
    "RESUME-2": restart.next_epoch_is_whole,
    "RESUME-3": restart.the_rest_comes,
    "RESUME-4": restart.end_is_an_end,
    "RESUME-5": restart.restarts_add_up,
    "RESUME-7": restart.state_stays,
    "RESUME-8": restart.states_are_taken,
    "RESUME-9": restart.loading_takes_effect,
    "RESUME-12": restart.no_state_for_show,
    "ERROR-1": faults.error_arrives,
    "ERROR-2": faults.error_in_its_place,
    "ERROR-3": faults.no_short_epoch,
    "ERROR-4": faults.is_an_error,
    "ERROR-5": faults.error_arrives,
    "ERROR-6": faults.error_arrives,
    "ERROR-7": faults.is_an_error,
    "ERROR-8": faults.only_the_failing_sample_is_skipped,
    "LEAK-1": faults.nothing_left,
    "LEAK-2": faults.nothing_left,
    "LEAK-3": faults.nothing_left,
    "LEAK-4": faults.nothing_left,
    "LEAK-5": faults.memory_does_not_grow,
    "DRAW-6": partition.nothing_twice,
    "EQUAL-1": reach.equal_steps_of_files,
    "EQUAL-2": reach.bounded_cost,
    "DRAW-1": draws.number_drawn,
    "DRAW-2": draws.nothing_of_no_weight,
    "DRAW-3": draws.drawn_by_weight,
    "DRAW-4": draws.drawn_anew,
    "DRAW-5": draws.drawn_again,
    "ALONE-1": reach.whole_in_any_process,
    "PEEK-1": reach.one_step_ahead,
    "ENDLESS-1": reach.goes_on,
    "ENDLESS-2": reach.passes_cover,
    "ENDLESS-3": reach.passes_are_shuffled_anew,
    "ENDLESS-4": reach.resumes_at_any_step,
    "GROUP-1": batches.one_group_a_step,
    "GROUP-2": batches.full_steps_but_one,
    "GROUP-3": batches.loss_of_each_group,
    "GROUP-4": batches.padding_of_each_group,
    "GROUP-5": arithmetic.equal_steps,
    "GROUP-6": batches.within_the_budget,
    "GROUP-7": batches.too_large_as_claimed,
    "GROUP-8": batches.no_read_to_put_off,
    "GROUP-9": batches.large_enough,
    "GROUP-10": arithmetic.length_is_true,
    "GROUP-11": batches.same_members,
    "GROUP-12": batches.other_steps_each_time,
    "STREAM-1": order.same_order,
    "STREAM-2": batches.other_steps_each_time,
    "STREAM-3": batches.other_steps_each_time,
    "STREAM-4": streams.each_element_once,
    "STREAM-5": streams.hears_of_epochs,
    "STREAM-6": streams.shards_stay_whole,
    "SUBSET-1": subsets.nothing_else,
    "SUBSET-2": subsets.whole_subset,
    "SUBSET-3": subsets.order_of_the_indices,
    "SUBSET-4": subsets.two_loaders_apart,
    "SUBSET-5": subsets.nothing_in_place,
    "SUBSET-6": arithmetic.length_is_true,
    "MIX-1": mixtures.nothing_twice_from_a_source,
    "MIX-2": mixtures.stops_as_asked,
    "MIX-3": mixtures.proportions,
    "MIX-4": mixtures.ranks_alike,
    "MIX-5": order.same_order,
    "MIX-6": mixtures.sources_in_order,
    "MIX-7": batches.other_steps_each_time,
    "MIX-8": mixtures.goes_on_after_a_restart,
    "MIX-9": arithmetic.length_is_true,
}

# A run that raises, hangs or dies is the fault itself here; under any other clause it is no answer.
OF_FAILURES = (
    *("BATCH-4", "BATCH-5", "COUNT-6", "COUNT-7", "EQUAL-1", "DRAW-1", "DRAW-5", "ALONE-1", "ENDLESS-1"),
    *("ENDLESS-4", "GROUP-3", "GROUP-7", "STREAM-4", "SUBSET-2", "MIX-2", "MIX-8"),
)
# Chapters 4, 5 and 10: a consumer reads here that does more than read and close. Some of these checks need an answer of
# every rank, as those of chapters 1 to 3 do; the others know what to say of a run that fails.
OF_CONSUMERS = tuple(name for name in CHECKS if name.startswith(("WORK", "ASYNC", "ERROR", "LEAK")))
# Chapter 9: a case is read by several processes, one after the other. What differs between two requests has no script.
OF_RESTARTS = tuple(name for name in CHECKS if name.startswith("RESUME"))
# Chapter 11, but for DRAW-6: each rank reads, of what it asks for besides, as in chapters 1 to 3.
_OF_CHAPTER_11 = ("EQUAL", "DRAW", "ALONE", "PEEK", "ENDLESS", "GROUP", "STREAM", "SUBSET", "MIX")
OF_REACH = tuple(name for name in CHECKS if name.startswith(_OF_CHAPTER_11) and name != "DRAW-6")
COMPLETE = ("WORK-2", *(f"WORK-{number}" for number in range(5, 12)))


def check_of(clause_id: str, samples: int) -> Check:
    """The check of a clause. Small and large datasets are held against different statistics."""
    if clause_id == "ORDER-12" and samples > 4:
        return statistics.uniform_or_mixed if samples <= 6 else statistics.mixed_from_end_to_end
    return CHECKS[clause_id]
