"""The golden vectors bite: a second implementation passes them all, and none of its mutants does."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reference.rules.vectors import FOLDER
from tests.reference.rules import second

TEXT = Path(second.__file__).read_text("utf-8")
ANSWERED = sorted(second.ANSWERS)
# The file whose vectors see it, what is replaced, and by what.
MUTANTS: tuple[tuple[str, str, str], ...] = (
    ("seeds.json", "2**64 - 1) if", "2**64) if"),
    ("seeds.json", "(-(2**63),", "(0,"),
    ("seeds.json", "(0, 2**32 - 1)", "(0, 2**32)"),
    ("arithmetic.json", "step = m * g * r * d\n", "step = m * g * r\n"),
    ("arithmetic.json", "n // (step * ranks) * step if drop", "n // ranks // step * step + 0 * step if not drop"),
    ("arithmetic.json", "else n // ranks + (n % ranks > 0)\n", "else n // ranks\n"),
    ("arithmetic.json", "else n // ranks + (n % ranks > 0)\n", "else n // ranks + 1\n"),
    ("arithmetic.json", "fewest = most if drop else n // ranks", "fewest = most"),
    ("arithmetic.json", "steps = most // step if drop else -(-most // step)", "steps = most // step"),
    ("arithmetic.json", "steps = most // step if drop else -(-most // step)", "steps = most // step + (not drop)"),
    ("arithmetic.json", "per_replica = most // step * g * d", "per_replica = most // step * g"),
    ("arithmetic.json", '"replica_batch": m * g,', '"replica_batch": m,'),
    ("arithmetic.json", '"global_batch": m * g * r,', '"global_batch": m * r * d,'),
    ("arithmetic.json", "n // m if drop else -(-n // m)", "n // m"),
    ("arithmetic.json", "per_replica * r if drop else -(-most // m)", "per_replica * r"),
    ("arithmetic.json", "n // m - per_replica * r * ranks if drop", "n // m - per_replica * ranks if drop"),
    ("arithmetic.json", "if drop else 0,\n        \"steps\"", "if drop else n % m,\n        \"steps\""),
    ("arithmetic.json", "most - (steps - 1) * step if steps else 0", "most - (steps - 1) * step"),
    ("arithmetic.json", "most - (steps - 1) * step if steps else 0", "most % step"),
    ("arithmetic.json", "used = most * ranks if drop else n", "used = most * ranks"),
    ("partition.json", "n // (step * ranks) * step, 0)", "n // ranks // step * step, n % ranks)"),
    ("partition.json", "rank * size + min(rank, rest)", "rank * size + rank"),
    ("partition.json", "rank * size + min(rank, rest)", "rank * size"),
    ("partition.json", "size + (rank < rest)], step, drop)", "size + (rank <= rest)], step, drop)"),
    ("shards.json", "steps if drop or whole == len(shard)", "steps if whole == len(shard)"),
    ("partition.json", "steps if drop or whole == len(shard)", "steps if drop"),
    ("shards.json", "return [size] * ranks\n    if policy", "return [size + (rest > 0)] * ranks\n    if policy"),
    ("shards.json", "[size + 1] * rest + [size] * (ranks - rest)", "[size] * (ranks - rest) + [size + 1] * rest"),
    ("shards.json", "[-(-n // (step * ranks)) * step] * ranks", "[n // (step * ranks) * step] * ranks"),
    ("shards.json", "[-(-n // (step * ranks)) * step] * ranks", "[(n // (step * ranks) + 1) * step] * ranks"),
    ("shards.json", "return [size + (rest > 0)] * ranks\n\n", "return [size + 1] * ranks\n\n"),
    ("shards.json", "return [size + (rest > 0)] * ranks\n\n", "return [size] * ranks\n\n"),
    ("shards.json", "[place % n for place in places]", "[place for place in places]"),
    ("shards.json", "[place % n for place in places]", "[min(place, n - 1) for place in places]"),
    ("shards.json", "[place % n for place in places]", "[place if place < n else 0 for place in places]"),
    ("shards.json", 'case["layout"] == "strided" else range', 'case["layout"] == "stride" else range'),
    ("shards.json", "range(rank, rank + size * ranks, ranks) if", "range(start, start + size) if"),
    ("shards.json", "        start += size\n", "        start += sizes[0]\n"),
    ("layout.json", "[i, a, p, j] for i in range(d) for a", "[i, a, p, j] for a in range(g) for i in range(d) for _"),
    ("layout.json", "for a in range(g) for p in range(r)", "for p in range(r) for a in range(g)"),
    ("layout.json", "for p in range(r) for j in range(m)", "for j in range(m) for p in range(r)"),
    ("splitting.json", "every[rank + ranks * worker ::", "every[rank * workers + worker ::"),
    ("splitting.json", "start = part * size + min(part, rest)\n        return", "start = part * size\n        return"),
    ("splitting.json", "size, rest = divmod(len(elements), parts)", "size, rest = len(elements) // parts, 0"),
    ("splitting.json", "cut_in(cut_in(every, rank, ranks), worker, workers)", "cut_in(every, worker, workers)"),
    ("streams.json", 'workers = max(case["workers"], 1)', 'workers = case["workers"]'),
    ("streams.json", 'workers = max(case["workers"], 1)', 'workers = case["workers"] + 1'),
    ("streams.json", "read = [[list(range(n))] * workers] * ranks", "read = [[list(range(n))]] * ranks"),
    ("streams.json", "read = [[list(range(n))] * workers] * ranks", "read = read_by(n, ranks, workers, 'strided')"),
    ("streams.json", "workers * ranks * (step - 1) if drop", "workers * (step - 1) if drop"),
    ("streams.json", "workers * ranks * (step - 1) if drop", "workers * ranks * step if drop"),
    ("streams.json", "[total - total % step if drop else total", "[total - total % step if not drop else total"),
    ("shuffle.json", "value ^= a\n", "value ^= 0\n"),
    ("shuffle.json", "return value ^ value >> 16\n\n    def mixed", "return value\n\n    def mixed"),
    ("shuffle.json", "one * 0xCA01F9DD - other", "one * 0xCA01F9DD + other"),
    ("shuffle.json", "    seed %= 2**64\n", "    seed = abs(seed)\n"),
    ("shuffle.json", "seed >> 32, 0, 0)", "0, 0, 0)"),
    ("shuffle.json", "(seed % 2**32, seed >> 32, 0, 0)", "(seed >> 32, seed % 2**32, 0, 0)"),
    ("shuffle.json", "            if to != at:\n", "            if True:\n"),
    ("shuffle.json", "mixed(word, hashed(epoch)) for", "mixed(word, hashed(epoch % 3)) for"),
    ("shuffle.json", "mixed(word, hashed(epoch)) for", "mixed(word, hashed(epoch % 2**16)) for"),
    ("shuffle.json", "mixed(word, hashed(epoch)) for", "mixed(word, hashed(epoch % 2**31)) for"),
    ("shuffle.json", "mixed(word, hashed(epoch)) for word in pool", "word for word in pool"),
    ("shuffle.json", "b = b * 0x58F38DED % 2**32", "b = b"),
    ("shuffle.json", "w[1] << 96 | w[0] << 64 |", "w[0] << 96 | w[1] << 64 |"),
    ("shuffle.json", "* 2 % 2**128 + 1", "* 2 % 2**128"),
    ("shuffle.json", "state = ((start + step) * multiplier + step) % 2**128", "state = start"),
    ("shuffle.json", "folded << 64 - turn", "folded << turn"),
    ("shuffle.json", "state >> 122", "state >> 64 & 63"),
    ("shuffle.json", "keys = keys_of(seed, epoch, n)\n", "keys = [key >> 32 for key in keys_of(seed, epoch, n)]\n"),
    ("shuffle.json", "keys = keys_of(seed, epoch, n)\n", "keys = keys_of(seed, epoch, n)[::-1]\n"),
    ("epochs.json", 'int(case["seed"]), case["epoch"])\n    steps', 'int(case["seed"]), 0)\n    steps'),
    ("epochs.json", "steps = blocks(order,", "steps = blocks(list(range(len(order))),"),
    ("epochs.json", "steps = blocks(order,", "steps = blocks(sorted(order, key=lambda at: order[at]),"),
    ("restarts.json", "[steps[taken:] for steps in all_steps]", "[steps[taken + 1 :] for steps in all_steps]"),
    ("restarts.json", "[steps[taken:] for steps in all_steps]", "all_steps"),
    ("restarts.json", "[steps[taken + 1 :] for", "[steps[1:] for"),
    ("restarts.json", '"next_epoch_of_rank": all_steps', '"next_epoch_of_rank": told["rest_of_rank"]'),
    ("restarts.json", "for one in steps[:taken] for", "for one in steps[: taken + 1] for"),
    ("restarts.json", "* case[\"new_ranks\"]) if drop", "* ranks) if drop"),
    ("restarts.json", "sum(bounds) - 2", "sum(bounds) - 1"),
    ("refusals.json", "isinstance(value, bool) or not", "not"),
    ("refusals.json", "or not isinstance(value, int)", "or False"),
    ("refusals.json", "else value < 1", "else value < 0"),
    ("refusals.json", 'not 0 <= value < case["world_size"]', 'not 0 <= value <= case["world_size"]'),
    ("refusals.json", 'not 0 <= value < case["world_size"]', 'not value < case["world_size"]'),
    ("ring.json", '("filling", "fill", "producer")', '("filling", "fill", "consumer")'),
    ("ring.json", '("held", "release", "consumer"): "free"', '("held", "release", "consumer"): "ready"'),
    ("ring.json", '("filling", "abandon", "consumer"): "stale"', '("filling", "abandon", "consumer"): "free"'),
    ("ring.json", '("stale", "return", "producer")', '("stale", "return", "consumer")'),
    ("ahead.json", '["steps_given"] + case', '["steps_given"] + 1 + case'),
    ("ahead.json", ' + case["workers"]', ""),
    ("ahead.json", "steps * case", "case"),
)  # fmt: skip


def failed(file: str, answer: Callable[[Any], Any]) -> str:
    """The first case of a file that an implementation has another answer to, or ""; an error is another answer."""
    for case in json.loads((FOLDER / file).read_text("utf-8"))["cases"]:
        try:
            found = answer(case)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            found = {"error": error}
        if any(case.get(name) != value for name, value in found.items()):
            return str(case)
    return ""


@pytest.mark.parametrize("name", ANSWERED)
def test_what_is_written_from_the_chapters_passes(name: str) -> None:
    """An implementation that knows the chapters alone has the answers of the reference."""
    assert "" == failed(name, second.ANSWERS[name])


@pytest.mark.parametrize(("name", "old", "new"), MUTANTS, ids=range(len(MUTANTS)))
def test_every_mutant_fails_a_vector(name: str, old: str, new: str) -> None:
    """One change of that implementation, and a vector of the file sees it."""
    assert 1 == TEXT.count(old), f"{old!r} must stand there once"
    mutant: dict[str, Any] = {}
    exec(compile(TEXT.replace(old, new), "mutant", "exec"), mutant)
    assert "" != failed(name, mutant["ANSWERS"][name])


def test_the_vectors_readme_counts_the_mutants() -> None:
    """It says how many there are."""
    (told,) = re.findall(r"changes it in (\d+) ways", (FOLDER / "README.md").read_text("utf-8"))
    assert len(MUTANTS) == int(told)


def test_the_method_in_chapter_3_is_the_references() -> None:
    """The program that the chapter prints gives the words, the keys and the orders of the vectors."""
    chapter = (FOLDER.parent / "3-order.md").read_text("utf-8")
    (program,) = re.findall(r"<!-- tested: the order of the reference -->\n```python\n(.+?)```", chapter, re.S)
    told: dict[str, Any] = {}
    exec(compile(program, "chapter 3", "exec"), told)
    for case in json.loads((FOLDER / "shuffle.json").read_text("utf-8"))["cases"]:
        seed, epoch = int(case["seed"]), case["epoch"]
        assert case["seed_words"] == told["seed_words"](seed, epoch)
        assert case["first_keys"] == [f"{key:016x}" for key in told["keys"](seed, epoch, 3)]
        if "order" in case:
            assert case["order"] == told["order"](case["samples"], seed, epoch)


def test_the_table_of_stages_in_chapter_3_is_the_references() -> None:
    """The words, the first key and the order that the chapter shows are those of the program."""
    chapter = (FOLDER.parent / "3-order.md").read_text("utf-8")
    rows = re.findall(r"^\| (-?\d+), (\d+) \| ([0-9a-f ]{71}) \| ([0-9a-f]{16}) \| ([\d ]+) \|$", chapter, re.M)
    assert 3 == len(rows)
    for seed, epoch, words, key, order in rows:
        assert words == " ".join(f"{word:08x}" for word in second.seed_words(int(seed), int(epoch)))
        assert key == f"{second.keys_of(int(seed), int(epoch), 1)[0]:016x}"
        assert order == " ".join(map(str, second.order_of(5, int(seed), int(epoch))))
