"""`loaderspec claims`: what a loader can promise, found by judging the same runs under many claims."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.claiming import claims
from conformance.claiming.search import LADDER, NOT_LOOKED_FOR, Findings, Search, Tried, unless_claimed
from conformance.claiming.struck import kept, struck
from conformance.claiming.words import refuted
from conformance.clauses import CLAUSES
from conformance.cli import main
from conformance.contract import CHOICES, LIMITS, VALUES, Claims, parse_claims
from conformance.processes.sources import source_of
from conformance.shapes.source import MEANINGS
from conformance.trial import memory
from conformance.trial.clause import Finding
from conformance.trial.memory import Memory
from conformance.trial.session import Options, Session
from tests.harness import plain_loader

PADS = dict(when_keeping="pad", shuffle="global", length=True, resume=True)


class Padding(plain_loader.PlainLoader):
    """Fills its shards up, so that ranks are equal."""

    def shard(self) -> list[int]:
        """As many samples as the rank with most of them has."""
        shard, request = super().shard(), self.request
        most = -(-len(request.dataset) // request.world_size)
        return shard if request.drop_last else [*shard, *[0] * (most - len(shard))]


class Losing(plain_loader.PlainLoader):
    """Is without the first sample of every rank."""

    def shard(self) -> list[int]:
        """All but the first."""
        return super().shard()[1:]


class Miscounting(plain_loader.PlainLoader):
    """Says that it has as many steps as its dataset has samples."""

    def __iter__(self) -> Iterator[list[int]]:
        """Those that there are."""
        yield from filter(None, super().__iter__())

    def __len__(self) -> int:
        """Right for one rank and a micro-batch of 1."""
        return len(self.request.dataset)


def found(load: Any, given: dict[str, Any]) -> Findings:
    """What a loader can promise, at the quick tier."""
    source, name = source_of(load, given)
    with Session(source, name, Options(tier="quick")) as session:
        return Search(session).run()


@pytest.fixture(scope="module")
def padding() -> Findings:
    """The findings on a loader that pads, strides and shuffles, and is said to do more."""
    return found(lambda request: Padding(request), PADS)


@pytest.mark.deep
def test_the_strongest_values_that_hold_are_found(padding: Findings) -> None:
    """Whatever was claimed before, what holds is claimed, and what does not is not."""
    wanted = Claims(when_dropping="drop", when_keeping="pad", layout="strided", length=True, shuffle="global")
    assert wanted == padding.claims


def test_a_loader_that_reads_everything_by_itself_has_no_workers(padding: Findings) -> None:
    """What is ignored holds whatever is asked for, and is no promise that could be made."""
    (workers,) = [each for each in padding.tried if each.claim == "workers"]
    assert (False, "it was asked for workers, and read everything by itself") == (workers.holds, workers.reason)


def test_what_is_stronger_is_refuted_by_a_small_case(padding: Findings) -> None:
    """Each value that was tried before has the case in which it fails."""
    refuted = {(each.claim, each.value): each.case.id for each in padding.tried if each.case}
    assert "PART-1-n1,w2,b1,keep" == refuted["when_keeping", "uneven"]
    assert "ORDER-2-n3,w2,b1,keep" == refuted["layout", "contiguous"]
    assert refuted["resume", True].startswith("RESUME-")


def test_a_person_is_told_that_it_is_no_promise(padding: Findings) -> None:
    """The text has the values, the cases, the claims to copy, and says aloud what they are worth."""
    text = "\n".join(claims.shown(padding, "it", "quick"))
    told = " ".join(text.split())
    assert '"uneven": no, PART-1-n1,w2,b1,keep: rank 1: 0 <- sample 0 again; "once": no, PART-1-n1,w2,b1,keep: ' in told
    assert '"pad": holds in ' in told
    assert '    when_keeping="pad",  # the rest under drop_last=False is filled up' in text
    assert "\nTHIS IS NOT A PROMISE." in text


def test_a_length_that_is_wrong_without_being_claimed_is_not_proposed() -> None:
    """COUNT-4 looks at it in any case, and what it finds refutes the claim."""
    source, name = source_of(lambda request: Miscounting(request))
    with Session(source, name, Options(tier="quick")) as session:
        result = Findings(Claims())
        Search(session)._try(result, "length", (True,))
    (length,) = result.tried
    assert (False, "COUNT-4-n1,w2,b1,keep") == (length.holds, length.case.id if length.case else "")
    assert not result.claims.length


@pytest.mark.parametrize("claim", ["when_dropping", "when_keeping"])
def test_every_policy_is_a_rung_and_has_words(claim: str) -> None:
    """Whatever becomes of a rest can be found out, and be told in the adapter that is written."""
    assert {*dict(LADDER)[claim]} == {*VALUES[claim]} == {*MEANINGS}


def test_what_a_claim_would_lift_is_not_violated_whatever_is_claimed() -> None:
    """RESUME-12 binds a loader that does not claim `resume`, and COUNT-4 any."""
    assert ["resume", ""] == [unless_claimed(CLAUSES[each], Claims()) for each in ("RESUME-12", "COUNT-4")]


def test_what_came_before_a_restart_is_shown_with_what_came_after_it() -> None:
    """Alone it says nothing. Of other lines at which nothing points, the first will do."""
    lines = ("before the restart, rank 0: 0", "after it, rank 0: 0 | 1")
    other = SimpleNamespace(id="ORDER-6-x", finding=Finding("alike", "1", ("epoch 0: 1", "epoch 1: 1"), ""))
    assert "ORDER-6-x: epoch 0: 1" == refuted(other)
    case = SimpleNamespace(id="RESUME-12-x", finding=Finding("state-ignored", "1", lines, ""))
    assert f"RESUME-12-x: {'; '.join(lines)}" == refuted(case)


def test_what_is_taken_out_of_an_adapter_is_said_and_why() -> None:
    """A claim that was refuted, and one for which a stronger one holds; what stays is not."""
    before = parse_claims(dict(length=True, resume=True, device=("training",), when_keeping="pad"))
    after = Findings(Claims(length=True, when_keeping="uneven"))
    after.tried += [
        Tried("when_keeping", "uneven", True, 3),
        Tried("resume", True, False, reason="RESUME-1 was violated once"),
    ]
    assert [
        ('when_keeping="pad"', '"uneven" is stronger, and holds'),
        ("resume=True", "RESUME-1 was violated once"),
    ] == list(struck(before, after))


def test_what_is_not_looked_for_stays_in_an_adapter() -> None:
    """Nothing was found out that speaks against it."""
    before = parse_claims(dict(device=("training",), batches=("grouped",), when_keeping="pad"))
    expected = Claims(length=True, when_keeping="uneven", device=("training",), batches=("grouped",))
    assert expected == kept(before, Claims(length=True, when_keeping="uneven"))


def test_every_claim_is_looked_for_or_left_to_its_author() -> None:
    """A new claim must be put in one of the two."""
    usual = {"datasets", "ranks", "epochs", "errors", "aliases", *LIMITS}
    assert {*VALUES, *CHOICES} - usual == {name for name, _ in LADDER} | {*NOT_LOOKED_FOR}


def test_an_answer_is_given_again_where_nothing_that_it_read_has_changed() -> None:
    """Other claims than those that were read don't matter; those that were do."""
    asked = []

    def ask(given: Claims) -> str:
        asked.append(given)
        return str(given.policy(drop_last=True))

    kept = Memory()
    one, same, other = Claims(), Claims(length=True, when_keeping="pad"), Claims(when_dropping="pad")
    assert ["None", "None", "pad"] == [kept.answer("question", given, ask) for given in (one, same, other)]
    assert 2 == len(asked)
    assert one == Claims() != memory.noted(one)


@pytest.mark.deep
def test_what_no_case_could_refute_is_not_said_to_hold() -> None:
    """Where no policy holds, no shard has a known size, and so no layout either."""
    loses = found(lambda request: Losing(request), {})
    tried = {(each.claim, each.value): each.reason for each in loses.tried}
    assert "not found out: no case could have refuted it" == tried["layout", "contiguous"]
    assert None is loses.claims.layout


ADAPTER = """\
# What it promises.
claims = dict(
    when_keeping="drop",  # so I thought
)
REST = 1

def load(request):
    size = request.batch_size
    if request.world_size < 1 or size < 1 or not 0 <= request.rank < request.world_size:
        raise ValueError(size)
    mine = [request.dataset[at] for at in range(request.rank, len(request.dataset), request.world_size)]
    return [mine[at : at + size] for at in range(0, len(mine), size)]
"""


@pytest.mark.deep
def test_claims_are_written_into_an_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --write the dict is replaced, and all around it stays."""
    monkeypatch.chdir(tmp_path)
    Path("adapter.py").write_text(ADAPTER)
    assert 0 == main(["claims", "adapter.py", "--tier=quick", "--write"])
    head, _, rest = ADAPTER.partition('claims = dict(\n    when_keeping="drop",  # so I thought\n)\n')
    text = Path("adapter.py").read_text()
    assert text.startswith(head)
    assert text.endswith(rest)
    assert '    when_keeping="uneven",' in text
    out = capsys.readouterr().out
    assert "written to adapter.py" in out
    assert 'taken out        when_keeping="drop": "uneven" is stronger, and holds' in out


def test_what_has_no_claims_to_replace_is_refused(tmp_path: Path) -> None:
    """A dict that is made elsewhere is left alone."""
    path = tmp_path / "adapter.py"
    path.write_text("from elsewhere import claims, load\n")
    with pytest.raises(claims.AdapterError, match="at its top; put the claims where they belong"):
        claims.rewritten(path, {})
