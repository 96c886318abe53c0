"""What an adapter may claim, and the sentence that each wrong claim gets."""

from typing import Any

import pytest

from conformance.contract import AdapterError, Claims, Request, parse_claims


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
        (dict(shuffle="globally"), "the claim shuffle='globally' is not one of 'global', 'buffered'; choose one"),
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
        (dict(oversized="skip", batches="grouped"), "contradict each other: oversized needs 'budget' in batches"),
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
