"""What an adapter may claim, and the sentence that each wrong claim gets."""

from typing import Any

import pytest

from conformance.contract import AdapterError, Claims, Request, parse_claims


def test_all_mistakes_are_said_at_once() -> None:
    """Unknown names and impossible values stand in one message, each with what may have been meant."""
    with pytest.raises(AdapterError) as raised:
        parse_claims(dict(shufle="global", datasets="maps", when_keeping="padd"))
    told = str(raised.value)
    assert "the claim 'shufle' is unknown; did you mean 'shuffle'? " in told
    assert (
        "; the claim datasets='maps' is not a choice of 'map', 'iterable'; name one or more of them, or none; " in told
    )
    assert told.endswith("'once'; did you mean 'pad'? choose one of them or leave it out")


def test_no_claims_are_the_defaults() -> None:
    """An adapter without claims promises the defaults."""
    assert Claims() == parse_claims(None) == parse_claims({})


def test_what_is_given_is_claimed() -> None:
    """Each value arrives under its name."""
    given = dict(when_dropping="drop", shuffle="buffered", length=True, smallest="world_size")
    assert Claims(when_dropping="drop", shuffle="buffered", length=True, smallest="world_size") == parse_claims(given)


def test_none_takes_a_claim_back() -> None:
    """None is the same as leaving the claim out."""
    assert Claims() == parse_claims(dict(shuffle=None, datasets=None, errors=None, smallest=None))


def test_none_says_that_there_are_no_ranks() -> None:
    """Of ranks None is a claim: nothing is asked for but one rank, beside what else can't be asked for."""
    claims = parse_claims(dict(ranks=None, without="drop_last"))
    assert (None, ("ranks", "drop_last")) == (claims.ranks, claims.without)


@pytest.mark.parametrize("given", ["iterable", ["iterable"], ("iterable",), {"iterable"}])
def test_datasets_are_one_name_or_several(given: Any) -> None:
    """A single kind of dataset may stand without brackets."""
    assert ("iterable",) == parse_claims(dict(datasets=given)).datasets


def test_datasets_come_in_one_order() -> None:
    """The order in which kinds of dataset are named means nothing."""
    assert ("map", "iterable") == parse_claims(dict(datasets=["iterable", "map"])).datasets


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("pad", "claims is 'pad', but must be a dict such as dict(when_keeping='pad'); make it one"),
        ([("length", True)], "but must be a dict"),
        (dict(shufle="global"), "the claim 'shufle' is unknown; did you mean 'shuffle'? the claims are datasets,"),
        (dict(lenght=True, worker=True), "the claims 'lenght', 'worker' are unknown; did you mean 'length'? did you"),
        (
            dict(shuffle="globally"),
            "shuffle='globally' is not one of 'global', 'buffered'; did you mean 'global'? choose",
        ),
        (dict(shuffle=True), "the claim shuffle=True is not one of 'global', 'buffered'"),
        (dict(when_keeping="repeat"), "the claim when_keeping='repeat' is not one of 'drop', 'pad', 'uneven', 'once'"),
        (dict(when_keeping=["pad"]), "the claim when_keeping=['pad'] is not one of 'drop', 'pad', 'uneven', 'once'"),
        (dict(smallest=True), "the claim smallest=True is not one of 0, 1, 'world_size', 'step'"),
        (dict(smallest=2), "the claim smallest=2 is not one of 0, 1, 'world_size', 'step'"),
        (dict(smallest=1.0), "the claim smallest=1.0 is not one of 0, 1, 'world_size', 'step'"),
        (dict(length=1), "the claim length=1 is not one of False, True"),
        (dict(length="yes"), "the claim length='yes' is not one of False, True"),
        (dict(datasets="list"), "the claim datasets='list' is not a choice of 'map', 'iterable'"),
        (dict(datasets=[]), "the claim datasets=[] is not a choice of 'map', 'iterable'"),
        (dict(datasets=["map", ["map"]]), "is not a choice of 'map', 'iterable'"),
        (dict(datasets=7), "the claim datasets=7 is not a choice of 'map', 'iterable'"),
        (dict(elastic=True), "contradict each other: elastic=True needs resume=True; claim both or neither"),
        (dict(end_of_epoch="next"), "contradict each other: end_of_epoch='next' needs resume=True"),
        (dict(iterable_workers="split"), "contradict each other: iterable_workers needs 'iterable' in datasets"),
        (dict(layout="strided", datasets="iterable"), "contradict each other: layout needs 'map' in datasets"),
        (dict(layout="strided", assignment="dynamic"), "so that layout promises nothing; claim one of them"),
        (dict(resume=True, assignment="dynamic"), "so that resume promises nothing; claim one of them"),
        (
            dict(equal_steps=True, when_keeping="uneven"),
            "gives one rank a sample more, and so a step more, which equal",
        ),
        (dict(equal_steps=True, when_dropping="uneven"), "when_dropping='uneven' gives one rank a sample more"),
        (dict(equal_steps=True, when_keeping="once"), "when_keeping='once' gives one rank a sample more"),
        (dict(equal_steps=True, datasets="iterable"), "equal_steps=True speaks of datasets that ranks share, and here"),
        (dict(equal_steps=True, without="ranks"), "no iterable_workers, or no ranks; leave equal_steps out"),
        (dict(equal_steps="yes"), "the claim equal_steps='yes' is not one of False, True"),
        (dict(drops="per-file"), "the claim drops='per-file' is not one of 'per-shard'; choose"),
        (dict(drops="per-shard", when_keeping="drop"), "and drops='per-shard' by the files; claim one of them"),
        (dict(sampling="weighted"), "the claim sampling='weighted' is not one of 'replacement'; choose"),
        (
            dict(sampling="replacement", shuffle="global"),
            "and with sampling='replacement' it is drawn; claim one of them",
        ),
        (dict(sampling="replacement", datasets="iterable"), "sampling needs 'map' in datasets; claim both or neither"),
        (dict(hooks="weights"), "the hook 'weights' needs sampling='replacement'; claim both or neither"),
        (dict(ranks=None, assignment="dynamic"), "ranks=None says that there is one process, and assignment='dynamic'"),
        (dict(ranks=None, equal_steps=True), "equal_steps=True speaks of datasets that ranks share, and here is none"),
        (dict(lookahead=True), "the claim lookahead=True is not one of 0, 1"),
        (dict(lookahead=2), "the claim lookahead=2 is not one of 0, 1"),
        (dict(lookahead=1, asynchronous=True), "and lookahead=1 is said of one that is not; claim one of them"),
        (dict(epochs="forever"), "the claim epochs='forever' is not one of 'set_epoch', 'automatic', 'endless'"),
        (
            dict(epochs="endless", length=True),
            "length=True speaks of an epoch that ends, and with epochs='endless' none",
        ),
        (dict(epochs="endless", resume=True, end_of_epoch="next"), "end_of_epoch='next' speaks of an epoch that ends"),
        (dict(oversized="skip", batches="grouped"), "contradict each other: oversized needs 'budget' in batches"),
        (dict(checkpoints=True), "contradict each other: checkpoints needs loop; claim both or neither"),
        (dict(batches="bucketed"), "batches='bucketed' is not a choice of 'grouped', 'budget', 'at_least'"),
        (dict(stream_shuffle="shards"), "contradict each other: stream_shuffle needs 'iterable' in datasets"),
        (dict(hooks="set_epoch"), "contradict each other: the hook 'set_epoch' needs 'iterable' in datasets"),
        ({1: "pad"}, "the claim 1 is unknown"),
    ],
)
def test_a_wrong_claim_is_named(given: Any, sentence: str) -> None:
    """The sentence holds the value, the rule and the mend."""
    with pytest.raises(AdapterError) as error:
        parse_claims(given)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_duplicate_dataset_is_one() -> None:
    """Naming a kind twice is naming it once."""
    assert ("map",) == parse_claims(dict(datasets=["map", "map"])).datasets


def test_the_policy_follows_drop_last() -> None:
    """`policy` gives the claim that binds under this drop_last."""
    claims = Claims(when_dropping="drop", when_keeping="pad")
    assert ("drop", "pad") == (claims.policy(True), claims.policy(False))


@pytest.mark.parametrize(("smallest", "least"), [(0, 0), (1, 1), ("world_size", 3), ("step", 6)])
def test_the_least_dataset_follows_the_claim(smallest: Any, least: int) -> None:
    """`smallest="world_size"` means one sample a rank, and "step" one step of each."""
    assert least == Claims(smallest=smallest).least_samples(3, 2)


def test_claims_are_json_data() -> None:
    """`as_dict` spells the defaults out, in types that JSON has."""
    data = Claims().as_dict()
    assert (["map"], "explicit", None, True) == (data["datasets"], data["ranks"], data["shuffle"], data["in_order"])


def test_a_request_knows_its_combined_batch() -> None:
    """N is micro-batch x accumulation x replicas x device iterations (BATCH-1)."""
    request = Request([], 2, False, 0, False, 0, 0, 1, 3, 5, 7, False, "")
    assert 2 * 3 * 5 * 7 == request.combined_batch
