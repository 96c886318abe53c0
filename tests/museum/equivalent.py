"""Changes of loading code that nobody could tell from the original, each with the reason.

Lines are those of torch 2.13.0 and of this version's reference.
"""

from tests.museum.mutation import Change

_WARNS = "it decides on a warning, and on nothing else"
_PASSED_OVER = "the loop at the top passes over a step that is gone"
_A_RACE = "it counts where a worker dies while a queue starts its thread, or is closed: no scenario can aim there"
_REFUSES = "a type may be refused (WORK-17), and no dataset mixes types that no batch can hold"
_NOT_ASKED = "it refuses what no request asks for"
_TOO_LONG = "no request has a dataset that is longer than it says"
_A_HASH = "other constants of a hash make other seeds, as good as these"
_FREE = "how many tasks a worker has is read where the order is free alone"
_A_DEATH = "any error may tell a death"
_TORCH_SEEDS = "torch has seeded the worker as well"
_LENGTH = "a length is judged where workers leave the number of steps alone, and every way gives the same there"
_PLANS = "plans and refusals read it, and no loader"
_HALF = (
    "a death is noticed a fifth of a second later as well, but in the middle of a message: no scenario can aim there"
)
_ROWS = "no request has a dataset of tensors, or a step that is empty"
_PINS = "nothing is pinned where there is no accelerator"
# By module and line: how the change begins ("" for all of the line), and why it is equivalent.
EQUIVALENT: dict[tuple[str, int], tuple[str, str]] = {
    ("torch.utils.data.dataloader", 294): ("", _NOT_ASKED),
    ("torch.utils.data.dataloader", 304): ("", _PINS),
    ("torch.utils.data.dataloader", 348): (
        "if isinstance(dataset, IterDataPipe)",
        "no request asks the loader itself to shuffle an iterable dataset, so that its refusal is never asked for",
    ),
    ("torch.utils.data.dataloader", 379): ("", "no request asks for a batch sampler beside what it replaces"),
    ("torch.utils.data.dataloader", 409): ("", "no clause speaks of the attributes of a loader"),
    ("torch.utils.data.dataloader", 424): ("True", "no clause speaks of attributes that are set on a loader later"),
    ("torch.utils.data.dataloader", 431): ("self.check_worker_number_rationality() -> pass", _WARNS),
    ("torch.utils.data.dataloader", 610): ("", _WARNS),
    ("torch.utils.data.dataloader", 617): ("", _WARNS),
    ("torch.utils.data.dataloader", 656): ("", _PINS),
    ("torch.utils.data.dataloader", 679): ("", _PINS),
    ("torch.utils.data.dataloader", 1111): ("", _NOT_ASKED),
    ("torch.utils.data.dataloader", 1318): ("10", "it is read where the machine has no descriptors left"),
    ("torch.utils.data.dataloader", 1485): ("del", "what lies behind the next step is forgotten with the epoch"),
    ("torch.utils.data.dataloader", 1498): ("self._rcvd_idx += 1 -> pass", _PASSED_OVER),
    ("torch.utils.data.dataloader", 1528): ("self._rcvd_idx += 1 -> pass", _PASSED_OVER),
    ("torch.utils.data.dataloader", 1533): ("", "an assertion of torch's about itself, which always holds"),
    ("torch.utils.data.dataloader", 1622): ("", "a second shutdown finds every worker ended and every queue closed"),
    ("torch.utils.data.dataloader", 1671): ("", "nobody asks for it once the workers are shut down"),
    ("torch.utils.data._utils.fetch", 29): ("raise", "an iterator that has ended ends again when it is asked again"),
    ("torch.utils.data._utils.fetch", 37): ("", "an iterator that has ended ends again when it is asked again"),
    ("torch.utils.data._utils.worker", 196): (
        "1492356589",
        _A_HASH,
    ),
    **{("torch.utils.data._utils.worker", line): ("", _A_HASH) for line in (195, 198, 199, 216)},
    ("torch.utils.data._utils.worker", 269): ("", "the handlers find words for a signal that ends the worker anyway"),
    ("torch.utils.data._utils.worker", 273): ("", "the threads of a worker change no sample"),
    ("torch.utils.data.distributed", 90): ("0 -> 1", "the adapter says which epoch it is before each"),
    ("torch.utils.data.distributed", 119): (
        "padding_size <= len(indices) -> padding_size < len(indices)",
        "both branches give the same where the padding is as long as the list",
    ),
    ("torch.utils.data.dataloader", 116): ("", "it shares out pipes of torch's, which no request has"),
    ("torch.utils.data.dataloader", 1135): ("", "the constructor sets it before anybody reads it"),
    ("torch.utils.data.dataloader", 1221): ("", "daemons end with their process as well"),
    ("torch.utils.data.dataloader", 1477): ("", "both are equal at the end alone, where nothing more is waited for"),
    ("torch.utils.data.dataloader", 1559): ("", _FREE),
    ("torch.utils.data.dataloader", 1564): ("", _FREE),
    ("torch.utils.data.dataloader", 704): ("", _WARNS),
    ("torch.utils.data.dataloader", 705): ("", _WARNS),
    ("torch.utils.data.dataloader", 726): ("", _WARNS),
    ("torch.utils.data.dataloader", 1486): ("1 -> 2", "each worker of this adapter gives all, and they end together"),
    ("torch.utils.data._utils.worker", 399): ("", "the process ends right after it, and closes what it has"),
    ("reference.dataloader", 86): ("", "PopTorch's property alone reads it"),
    ("reference.dataloader", 90): ("", "each epoch sets it before anybody reads it"),
    ("reference.dataloader", 163): ("", "they end with the last reference to them, one line below"),
    ("reference.dataloader", 96): ("0 -> 1", "no clause says whether workers persist where nobody asks"),
    ("reference.dataloader", 215): ("", _LENGTH),
    ("reference.dataloader", 222): ("", "epochs count themselves, as claimed: nobody says which one comes"),
    ("reference.dataloader", 271): ("", "a request has a seed, or a generator and a shuffle"),
    ("reference.dataloader", 100): ("", "no clause speaks of options that are set after a loader was made"),
    ("reference.loading.collate", 53): ("", _REFUSES),
    ("reference.loading.collate", 108): ("", _REFUSES),
    ("reference.loading.collate", 111): ("", _REFUSES),
    ("reference.loading.faults", 57): ("", "what caused an error is words of it"),
    ("reference.loading.faults", 95): (
        "get_worker_info() is None",
        "any error may tell what ended a worker (ERROR-1)",
    ),
    ("reference.loading.faults", 100): ("", "the words of an error are no clause's: it is one, and names a death"),
    ("reference.loading.faults", 114): ("collate_fn is None", "both ways make the same steps: one is faster"),
    ("reference.loading.passes", 60): (
        "",
        "an iterator that lives when its loader is closed may keep what it has: WORK-15",
    ),
    ("reference.loading.passes", 39): ("", _A_DEATH),
    ("reference.loading.passes", 48): ("", "behind an error an iterator may go on, as torch's does"),
    ("reference.loading.passes", 70): ("", "they end with the last reference to them; any error may tell a death"),
    ("reference.loading.processes", 46): ("self._watch(False) -> pass", _A_RACE),
    ("reference.loading.processes", 52): ("0 -> 1", "a worker that runs has an id"),
    ("reference.loading.processes", 64): ("", "where both are equal it looks once more, and waits for nothing"),
    ("reference.loading.processes", 98): ("", "a process that was killed is joined when the next one is started"),
    ("reference.loading.processes", 115): ("", _A_DEATH),
    ("reference.loading.processes", 118): ("", _A_DEATH),
    ("reference.loading.processes", 69): (
        "True",
        "a constructor that raised has started no workers",
    ),
    ("reference.loading.processes", 82): ("", _A_RACE),
    ("reference.loading.processes", 93): ("self._watch(False) -> pass", _A_RACE),
    ("reference.loading.processes", 105): ("", "what asks workers that have died finds that out (WORK-14)"),
    ("reference.loading.processes", 116): ("", _A_DEATH),
    ("reference.loading.processes", 160): ("False -> True", _A_RACE),
    ("reference.loading.processes", 40): ("", _HALF),
    ("reference.loading.processes", 77): ("", "torch sets it again"),
    ("reference.loading.processes", 91): ("", "workers that were killed are not alive either"),
    ("reference.loading.processes", 119): ("", _A_DEATH),
    ("reference.loading.processes", 153): ("", _HALF),
    ("reference.loading.request", 124): ("1 -> 2", _NOT_ASKED),
    ("reference.loading.request", 142): ("1 -> 2", "no request is without a batch size"),
    ("reference.loading.request", 159): ("", _NOT_ASKED),
    ("reference.loading.request", 160): ("", _NOT_ASKED),
    ("reference.loading.request", 170): ("", _NOT_ASKED),
    ("reference.loading.request", 190): ("", "len() then gets None, which is a TypeError as well"),
    ("reference.loading.request", 71): ("check_type('options'", "the adapter makes the options, of the right type"),
    ("reference.loading.request", 209): ("", _WARNS),
    ("reference.loading.worker", 46): ("", "the generators go on, and give other numbers in each epoch"),
    ("reference.loading.worker", 82): ("", _TORCH_SEEDS),
    ("reference.loading.worker", 35): ("6 -> 7", _A_HASH),
    ("reference.loading.worker", 39): ("", _TORCH_SEEDS),
    ("reference.loading.worker", 40): ("", _TORCH_SEEDS),
    ("reference.rules.sampler", 106): ("", "no request asks for factors beside a batch sampler"),
    ("reference.rules.arithmetic", 128): ("", _PLANS),
    ("reference.rules.sampler", 105): ("", "no request asks for drop_last beside a batch sampler"),
    ("reference.loading.request", 184): ("", _LENGTH),
    ("reference.rules.splitting", 107): ("", _TOO_LONG),
    ("reference.rules.splitting", 108): ("", _TOO_LONG),
    ("torch.utils.data._utils.worker", 197): ("", _A_HASH),
    ("torch.utils.data._utils.worker", 217): ("", _A_HASH),
    ("torch.utils.data._utils.worker", 393): ("", "what was sent is kept until the next step is read"),
    ("torch.utils.data.dataloader", 1146): ("", "what a worker is asked for is too short to fill a pipe"),
    ("torch.utils.data.dataloader", 1231): ("", "each worker begins its epoch twice, before it reads anything"),
    ("torch.utils.data.dataloader", 1235): ("", _PASSED_OVER),
    ("torch.utils.data.dataloader", 1256): ("", _FREE),
    ("torch.utils.data.dataloader", 1514): (
        "",
        "fewer steps are asked for ahead",
    ),
    ("torch.utils.data.dataloader", 1679): (
        "",
        "a worker that is not waited for gets a signal as well",
    ),
    ("torch.utils.data.dataloader", 292): ("", "nobody reads it where there are no workers"),
    ("torch.utils.data.sampler", 148): ("", _NOT_ASKED),
    ("torch.utils.data.distributed", 111): (
        "self.seed + self.epoch -> self.seed - self.epoch",
        "other orders, as good as these",
    ),
    ("reference.rules.arithmetic", 109): ("ranks - 1 -> ranks + 1", "no rank has a smaller share than the last one"),
    ("reference.rules.arithmetic", 125): ("", _PLANS),
    ("reference.rules.splitting", 52): ("", "no request says how long a stream is"),
    ("reference.loading.passes", 58): ("", "they end with the last reference to them"),
    ("reference.loading.passes", 43): ("", _A_DEATH),
    ("reference.loading.request", 201): ("", _WARNS),
    ("reference.loading.request", 208): ("", _WARNS),
    ("reference.loading.request", 105): ("", "no request asks for replicas that share an input"),
    ("reference.loading.request", 56): ("", "no request asks for samples in place of steps"),
    ("reference.loading.worker", 36): ("2 -> 3", _A_HASH),
    ("reference.loading.faults", 72): ("", "an error that can't be pickled may be told in words (ERROR-1)"),
    ("reference.loading.faults", 135): ("", _ROWS),
    ("reference.loading.faults", 188): ("", _ROWS),
    ("reference.dataloader", 99): ("", "no clause speaks of the attributes of a loader"),
    ("reference.dataloader", 164): ("", "an epoch that begins after a death may be an error (WORK-14)"),
    ("reference.dataloader", 174): ("", _A_DEATH),
    ("reference.dataloader", 208): ("", "no clause speaks of options that are set on a copy"),
}


def is_equivalent(change: Change) -> bool:
    """Whether it stands in the table."""
    begins, _ = EQUIVALENT.get((change.module, change.line), (None, ""))
    return begins is not None and f"{change.before} -> {change.after}".startswith(begins)
