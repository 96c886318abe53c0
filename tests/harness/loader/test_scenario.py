"""A scenario, its code and its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.contract import Claims, parse_claims
from conformance.epochs.drawn import variants
from conformance.loader.scenario import VARIANTS, Scenario, from_code
from conformance.trial.tiers import TIERS
from conformance.trial.words import count
from tests.harness.tried import drawn, listed

EVERYTHING = parse_claims(
    dict(
        when_dropping="drop",
        when_keeping="pad",
        shuffle="global",
        workers=True,
        epochs="set_epoch",
        device_options=True,
    )
)


@given(st.one_of(drawn("map", EVERYTHING), drawn("workers", EVERYTHING)))
def test_a_code_reads_back_as_its_scenario(scenario: Scenario) -> None:
    """Whatever a family draws is replayed by its code alone."""
    assert scenario == from_code(scenario.code)


@pytest.mark.parametrize("family", ["refusals", "statistics"])
@pytest.mark.parametrize("tier", TIERS)
def test_the_code_of_a_listed_scenario_reads_back(family: str, tier: str) -> None:
    """Whatever is listed is replayed by its code alone, and no two have one code."""
    scenarios = listed(family, EVERYTHING, tier)
    assert scenarios == [from_code(scenario.code) for scenario in scenarios]
    assert len(scenarios) == len({scenario.code for scenario in scenarios})


@given(drawn("map", EVERYTHING))
def test_a_code_is_one_word(scenario: Scenario) -> None:
    """A code needs no quotes in a shell, and is a file name."""
    assert not set(scenario.code) - set("abcdefghijklmnopqrstuvwxyz0123456789,-+=.")


@pytest.mark.parametrize(
    ("scenario", "code"),
    [
        (Scenario(1, 2), "n1,w2,b1,keep"),
        (Scenario(0, 1, 3, drop_last=True), "n0,w1,b3,drop"),
        (Scenario(9, 2, 1, 2, 3, 4), "n9,w2,b1,keep,g2,p3,i4"),
        (Scenario(9, shuffle=True, epochs=3, seed=5, variant="seed+1"), "n9,w1,b1,keep,shuffle,e3,s5,seed+1"),
        (Scenario(4, refusal="batch_size=-1"), "n4,w1,b1,keep,batch_size=-1"),
        (Scenario(4, num_workers=2, variant="workers"), "n4,w1,b1,keep,k2,workers"),
        (Scenario(4, shuffle=True, seeds=20), "n4,w1,b1,keep,shuffle,x20"),
    ],
)
def test_a_code_says_what_is_not_usual(scenario: Scenario, code: str) -> None:
    """A code leaves out what is as usual."""
    assert code == scenario.code


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("", "'' in the case '' can't be read; a case looks like n1,w2,b1,keep"),
        ("nonsense", "'nonsense' in the case 'nonsense' can't be read"),
        ("n1,w2", "the case 'n1,w2' does not say batch_size; a case looks like n1,w2,b1,keep"),
        ("keep", "does not say samples and world_size and batch_size"),
        ("n1,w2,b1,q5", "'q5' in the case 'n1,w2,b1,q5' can't be read"),
        ("n-1,w2,b1", "'n-1' in the case"),
        ("n1,,b1", "'' in the case"),
        ("n1,w2,b1 ", "'b1 ' in the case"),
        ("n1,w0,b1,keep", "'w0' in the case 'n1,w0,b1,keep' says world_size below 1"),
        ("n1,w1,b0,keep", "says batch_size below 1"),
        ("n1,w1,b1,e0", "says epochs below 1"),
        (
            "n1,w100000,b1,keep",
            "'w100000' in the case 'n1,w100000,b1,keep' says world_size above 256, more than is run",
        ),
        ("n1,w1,b1,keep,k257", "says num_workers above 256"),
        ("n1,w1,b1,keep,e100001", "says epochs above 100000"),
        ("n999999999999,w1,b1", "says samples above 100000000"),
        ("n1,w1,b1,x0", "says seeds below 1"),
        ("n1,w1,b1,g0", "says gradient_accumulation below 1"),
        ("n1,n2,w1,b1", "'n2' in the case 'n1,n2,w1,b1' says samples a second time; say it once"),
        ("n1,w1,b1,keep,drop", "says drop_last a second time"),
        ("n1,w1,b1,batch_size=7", "'batch_size=7' in the case"),
        ("n1,w1,b1,dataset=0", "'dataset=0' in the case"),
        ("n1,w1,b1,=0", "'=0' in the case"),
        ("n\u0661,w1,b1", "can't be read"),
    ],
)
def test_what_is_no_code_gets_a_sentence(code: str, sentence: str) -> None:
    """The sentence names the part that is wrong."""
    with pytest.raises(ValueError, match="case") as error:
        from_code(code)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        (Scenario(1, 2), "1 sample, 2 ranks, micro-batch 1, drop_last=False"),
        (Scenario(0, 1, 3, drop_last=True), "0 samples, 1 rank, micro-batch 3, drop_last=True"),
        (
            Scenario(9, 2, 1, 2, 3, 4),
            "9 samples, 2 ranks, micro-batch 1, gradient accumulation 2, replication factor 3, device iterations 4, "
            "drop_last=False",
        ),
        (
            Scenario(9, shuffle=True, epochs=3, seed=5, num_workers=1),
            "9 samples, 1 rank, micro-batch 1, drop_last=False, shuffle=True, seed 5, 3 epochs, 1 worker",
        ),
        (
            Scenario(4, shuffle=True, seeds=20),
            "4 samples, 1 rank, micro-batch 1, drop_last=False, shuffle=True, 20 seeds",
        ),
        (Scenario(4, refusal="rank=2"), "4 samples, 1 rank, micro-batch 1, drop_last=False, asked for rank=2"),
    ],
)
def test_a_scenario_is_described_in_words(scenario: Scenario, words: str) -> None:
    """The words are those of the specs, in one order."""
    assert words == scenario.describe()


@pytest.mark.parametrize(
    ("number", "noun", "words"), [(1, "epoch", "1 epoch"), (2, "epoch", "2 epochs"), (0, "step", "0 steps")]
)
def test_nouns_are_counted(number: int, noun: str, words: str) -> None:
    """One is singular, all else is plural."""
    assert words == count(number, noun)


def test_a_combined_batch_is_the_product_of_its_factors() -> None:
    """N is micro-batch x accumulation x replicas x device iterations (BATCH-1)."""
    assert 2 * 3 * 5 * 7 == Scenario(1, 1, 2, 3, 5, 7).combined_batch


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (Claims(epochs="automatic"), {"none", "again", "after", "random-state"}),
        (Claims(shuffle="global", epochs="automatic"), {"none", "again", "after", "random-state", "seed+1"}),
        (Claims(), {"none", "again", "after", "random-state", "jump"}),
        (Claims(epochs="set_epoch"), {"none", "again", "after", "random-state", "jump"}),
    ],
)
def test_variants_ask_for_what_is_claimed_only(claims: Claims, expected: set[str]) -> None:
    """An epoch is jumped to unless loaders count them, a seed changed only where there is a shuffle."""
    assert expected == set(variants(claims)) <= set(VARIANTS)


@given(drawn("map", Claims()))
def test_nothing_is_asked_for_that_is_not_claimed(scenario: Scenario) -> None:
    """Without claims there are no shuffled scenarios, no device factors and no workers."""
    assert (False, False, 0) == (scenario.shuffle, scenario.has_device_factors, scenario.num_workers)


def test_a_process_group_is_not_asked_for_ranks_that_cannot_be() -> None:
    """Rank and world size are refused only where they are arguments."""
    names = {scenario.refusal.split("=")[0] for scenario in listed("refusals", Claims(ranks="process_group"), "gate")}
    assert {"batch_size"} == names
