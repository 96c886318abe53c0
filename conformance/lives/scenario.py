"""What a loader is asked for, by another chapter's scenario, and what it lives through before its last epoch.

`n5,w1,b2,keep,life=left+saved` leaves the first epoch after a step, resumes in the second one from a state, and reads
the third one to its end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.chosen import scenario as chosen
from conformance.contract import Claims
from conformance.loader import scenario as plain
from conformance.loader.living import FURTHER_LIVES, LIVES
from conformance.trace import SUBJECTS
from conformance.trial.codes import check_words
from conformance.trial.words import words_of

Asked = plain.Scenario | chosen.ChosenScenario

# What of the user's own the request has besides; each is the same in every epoch.
HOOKS = {
    "sampler": "a sampler of the user's own",
    "batches": "a batch sampler of the user's own",
    "collated": "a collate function of the user's own",
    "ahead": "read ahead",
}
WORDS = {**HOOKS, **LIVES, **FURTHER_LIVES}
_LIFE = ",life="


@dataclass(frozen=True)
class LifeScenario:
    """A request, and a life: words of LIVES and FURTHER_LIVES, one for each epoch but the last, behind those of HOOKS.

    `asked` has as many epochs as there are, and nothing that goes wrong or is done.
    """

    asked: Asked
    details: str

    @property
    def words(self) -> list[str]:
        """The words of the hooks, and of the life."""
        return words_of(self.details)

    @property
    def hooks(self) -> list[str]:
        """The hooks that are asked for."""
        return [word for word in self.words if word in HOOKS]

    @property
    def life(self) -> list[str]:
        """What becomes of each epoch but the last."""
        return [word for word in self.words if word not in HOOKS]

    @property
    def num_workers(self) -> int:
        """The worker processes of each rank."""
        return self.asked.num_workers

    @property
    def waits(self) -> int:
        """Workers come and go, or what reads ahead notices that its consumer is gone."""
        return int(self.asked.num_workers > 0 or self.is_asynchronous)

    @property
    def is_chosen(self) -> bool:
        """Whether the request is one of chapter 11."""
        return isinstance(self.asked, chosen.ChosenScenario)

    @property
    def is_asynchronous(self) -> bool:
        """Whether it is read ahead."""
        return "ahead" in self.hooks or (isinstance(self.asked, plain.Scenario) and self.asked.asynchronous)

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        return (len(self.words), *self.asked.size)

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        return f"{self.asked.code}{_LIFE}{self.details}"

    def describe(self) -> str:
        """The scenario in the words of a report: the request, and what becomes of its epochs."""
        told = [*(HOOKS[each] for each in self.hooks), *(WORDS[each] for each in self.life)]
        return f"{self.asked.describe()}; {', then '.join(told)}, then a whole epoch"

    def fields(self) -> dict[str, Any]:
        """The scenario as JSON stores it: the request's own details, then the life."""
        own = self.asked.fields()
        return {**own, "subject": "life", "details": f"{own['subject']}/{own['details']}/{self.details}"}


def living(asked: Asked, *words: str) -> LifeScenario:
    """The request with as many epochs as these words need."""
    life = [word for word in words if word not in HOOKS]
    return LifeScenario(replace(asked, epochs=len(life) + 1), "+".join(words))


def from_code(code: str) -> LifeScenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    request, found, details = code.partition(_LIFE)
    if not found:
        raise ValueError(f"the case {code!r} says no life; a case looks like n5,w1,b2,keep,e3,life=left+saved")
    is_chosen = any(about in request.split(",") for about in chosen.ABOUT)
    scenario = LifeScenario((chosen.from_code if is_chosen else plain.from_code)(request), details)
    check_words(scenario.words, WORDS, code)
    epochs = len(scenario.life) + 1
    if scenario.asked.epochs != epochs:
        raise ValueError(f"the case {code!r} reads an epoch for each word of its life, and one more; say e{epochs}")
    return scenario


def _from_fields(fields: Mapping[str, Any]) -> LifeScenario:
    subject, details, life = fields["details"].split("/")
    asked: Any = SUBJECTS[subject]({**fields, "subject": subject, "details": details})
    return LifeScenario(asked, life)


SUBJECTS["life"] = _from_fields


def within(scenario: LifeScenario, claims: Claims) -> LifeScenario | None:
    """The nearest scenario that a loader of these claims can be asked for (`Claims.without`)."""
    asked: Asked | None
    if isinstance(scenario.asked, chosen.ChosenScenario):
        asked = chosen.within(scenario.asked, claims)
    else:
        asked = plain.within(scenario.asked, claims)
    return None if asked is None else replace(scenario, asked=asked)
