"""Answers to `start`: what a loader may say of itself, and each claim that lacks another or contradicts one."""

import json
from typing import Any

from conformance.vectors.exchanges import Exchanged, start

_EQUAL = {"equal_steps": True}
# Each can be understood if True.
CLAIMS: tuple[tuple[bool, dict[str, Any] | None], ...] = (
    (True, None),
    (True, {"hooks": "timeout"}),
    (False, {"hooks": []}),
    (True, {"aliases": False, "resume": False, "shuffle": None}),
    (False, {"length": 1}),
    (False, {"shufle": None}),
    (True, {"aliases": "asynchronous"}),
    (True, {"resume": True}),
    (False, {"elastic": True}),
    (True, {"elastic": True, "resume": "unshuffled"}),
    (False, {"end_of_epoch": "next"}),
    (False, {"checkpoints": True}),
    (False, {"iterable_workers": "split"}),
    (False, {"stream_shuffle": "shards"}),
    (False, {"hooks": ["set_epoch"]}),
    (False, {"oversized": "skip", "batches": ["grouped"]}),
    (False, {"hooks": ["buffer_size"]}),
    (False, {"assignment": "dynamic", "ranks": None}),
    (False, {"assignment": "dynamic", "layout": "strided"}),
    (False, {"assignment": "dynamic", "resume": True}),
    (False, {**_EQUAL, "datasets": ["iterable"]}),
    (True, {**_EQUAL, "datasets": ["iterable"], "iterable_workers": "replicated"}),
    (False, {**_EQUAL, "without": ["ranks"]}),
    (False, {**_EQUAL, "ranks": None}),
    (False, {**_EQUAL, "when_keeping": "uneven"}),
    (False, {**_EQUAL, "when_keeping": "once"}),
    (True, {**_EQUAL, "when_dropping": "once"}),
    (False, {"drops": "per-shard", "datasets": ["iterable"]}),
    (False, {"drops": "per-shard", "without": ["ranks"]}),
    (False, {"drops": "per-shard", "when_dropping": "drop"}),
    (False, {"sampling": "replacement", "datasets": ["iterable"]}),
    (False, {"sampling": "replacement", "shuffle": "global"}),
    (False, {"hooks": ["weights"]}),
    (False, {"lookahead": 1, "asynchronous": True}),
    (False, {"epochs": "endless", "length": True}),
    (False, {"epochs": "endless", "equal_steps": True}),
    (False, {"layout": "strided", "datasets": ["iterable"]}),
)
_MORE: tuple[Exchanged, ...] = (
    (False, start, ('{"raised":1}',)),
    (False, start, ('{"version":1,"has":null}',)),
    (True, start, ('{"version":1,"claims":{"length":true,"resume":true},"has":["merge","merge"]}',)),
)
EXCHANGES: tuple[Exchanged, ...] = (
    *((understood, start, (json.dumps({"version": 1, "claims": claims}),)) for understood, claims in CLAIMS),
    *_MORE,
)
