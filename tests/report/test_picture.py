"""The picture marks what is so: repeats, padding that is claimed, foreign numbers, and what came on no rank."""

from conformance.contract import Claims, parse_claims
from conformance.loader.scenario import Scenario
from conformance.report.picture import MOST_EPOCHS, MOST_SAMPLES, MOST_STEPS, Grid, Item, pictures
from conformance.trace import Failure, RankRun, Run, Trace
from tests.report.pages import ORDER, epoch, run

EXACT = parse_claims(dict(when_keeping="uneven", when_dropping="drop"))
PADS = parse_claims(dict(when_keeping="pad"))


def grid(scenario: Scenario, found: Run, claims: Claims = EXACT) -> Grid:
    """The only grid of a run."""
    ((picture,),) = [each.grids for each in pictures(Trace(scenario, (found,)), claims)]
    return picture


def items(found: Grid) -> list[Item]:
    """All samples in a grid, rank by rank."""
    return [item for line in found.lines for cell in line.cells for item in cell.items]


def test_a_repeat_is_marked_where_it_comes_again() -> None:
    """The second and the third are one too many, and the first is marked to be held against them."""
    found = grid(Scenario(1, world_size=3), run([[0]], [[0]], [[0]]))
    assert [Item(0, "first"), Item(0, "again", 2), Item(0, "again", 3)] == items(found)


def test_claimed_padding_is_no_fault() -> None:
    """A round that is completed is padding, and so is a last step of every rank."""
    assert [Item(0), Item(0, "padded", 2)] == items(grid(Scenario(1, world_size=2), run([[0]], [[0]]), PADS))
    full = grid(Scenario(1, world_size=1, batch_size=3), run([[0, 0, 0]]), PADS)
    assert ["", "padded", "padded"] == [item.mark for item in items(full)]


def test_more_than_claimed_padding_is_marked_as_repeats() -> None:
    """Two of three samples of a step are neither a round nor a whole step."""
    found = grid(Scenario(1, world_size=1, batch_size=3), run([[0, 0]]), PADS)
    assert [Item(0, "first"), Item(0, "again", 2)] == items(found)


def test_elements_of_replicated_workers_are_no_repeats() -> None:
    """Each worker yields all of them, where that is claimed; once more is once too often."""
    claims = parse_claims(dict(datasets=("iterable",), workers=True, iterable_workers="replicated"))
    found = grid(Scenario(1, num_workers=2, dataset="iterable"), run([[0], [0], [0]]), claims)
    assert ["first", "", "again"] == [item.mark for item in items(found)]


def test_what_is_no_sample_is_foreign() -> None:
    """A number outside of the dataset, below as above."""
    assert [Item(-1, "foreign"), Item(2, "foreign"), Item(0), Item(1)] == items(grid(Scenario(2), run([[-1, 2, 0, 1]])))


def test_a_loss_is_told_with_what_the_claims_say() -> None:
    """More than allowed, as few as allowed, or plainly where something else happened."""
    lost = run([[0]], [[1]])
    assert "on no rank: sample 2 (more than the claims allow)" == grid(Scenario(3, world_size=2), lost).absent
    dropped = grid(Scenario(3, world_size=2, drop_last=True), lost)
    assert "on no rank: sample 2 (as few as the claims allow)" == dropped.absent
    assert "on no rank: sample 2" == grid(Scenario(3, world_size=2, fault="raise@2"), lost).absent
    assert "" == grid(Scenario(2, world_size=2), lost).absent


def test_a_refusal_is_not_asked_for_samples() -> None:
    """One rank was asked for what can't be; that it delivers not all samples is no loss."""
    assert "" == grid(Scenario(4, world_size=2, refusal="rank=-1"), run([[3]])).absent


def test_a_second_run_is_compared_with_the_first() -> None:
    """A step that differs is marked, in the second run alone."""
    first, second = pictures(ORDER.trace, EXACT)
    assert [False, False, False] == [cell.differs for cell in first.grids[0].lines[0].cells]
    assert [False, True, True] == [cell.differs for cell in second.grids[0].lines[0].cells]
    assert "once more, in another process with another hash seed" == second.changed


def test_an_end_before_its_time_is_told() -> None:
    """What was raised stands in the rank's row; a rank that has no epoch is told above."""
    failure = Failure("raised", "step", "ValueError: broken", 0)
    rank = RankRun(0, (epoch([[0]], failure=failure),), failure)
    assert "raised ValueError: broken (in step)" == grid(Scenario(2), Run("main", (rank,))).lines[0].remark
    (gone,) = pictures(Trace(Scenario(1), (Run("main", (RankRun(0, (), Failure("hung", "load", "")),)),)), EXACT)
    assert (("rank 0 hung (in load)",), ()) == (gone.failures, gone.grids)


def test_a_wrong_length_is_told() -> None:
    """What len() said, and what came."""
    assert "len() said 3, 1 step came" == grid(Scenario(1), run([[0]], length=3)).lines[0].remark


def test_a_large_delivery_is_cut_and_counted() -> None:
    """No picture is without bounds, and what is left out is told."""
    steps = [list(range(MOST_SAMPLES + 2))] * (MOST_STEPS + 5)
    many = Run("main", (RankRun(0, tuple(epoch(steps, number) for number in range(MOST_EPOCHS + 1))),))
    (found,) = pictures(Trace(Scenario(100, batch_size=50), (many,)), EXACT)
    line = found.grids[0].lines[0]
    assert (1, 5, 2) == (found.hidden_epochs, line.hidden, line.cells[0].hidden)
    assert (MOST_STEPS, MOST_SAMPLES) == (len(line.cells), len(line.cells[0].items))
