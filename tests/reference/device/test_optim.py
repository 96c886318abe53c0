"""poptorch.optim: torch's updates, with PopTorch's arguments."""

from typing import Any

import pytest
import torch

from reference import optim
from tests.reference.device.device_probes import Regression, step, train_plainly, weights

KINDS = ["SGD", "Adam", "AdamW", "RMSprop"]


@pytest.mark.parametrize("name", KINDS)
def test_the_updates_are_torchs(name: str) -> None:
    """Whatever is said of the hardware, and of what is None."""
    found = []
    for kind, extra in (
        (getattr(torch.optim, name), {}),
        (getattr(optim, name), dict(loss_scaling=8.0, accum_type=torch.float16, weight_decay=None)),
    ):
        module = Regression()
        train_plainly(module, kind(module.parameters(), lr=0.1, **extra), [step(4), step(4, seed=1)])
        found.append(weights(module))
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_what_concerns_the_hardware_is_recorded() -> None:
    """As attributes of the optimizer."""
    optimizer = optim.SGD(Regression().parameters(), lr=0.1, loss_scaling=8.0, use_combined_accum=False)
    assert (8.0, False) == (optimizer.loss_scaling, optimizer.use_combined_accum)
    optimizer.variable_attrs.markAsConstant("lr")
    assert optimizer.variable_attrs.isConstant("lr")
    optimizer.variable_attrs.markAsVariable("lr")
    assert not optimizer.variable_attrs.isConstant("lr")


@pytest.mark.parametrize("extra", [dict(bias_correction=False), dict(max_grad_norm=1.0)])
def test_what_would_change_the_numbers_is_refused(extra: dict[str, Any]) -> None:
    """Silence would train another model."""
    (name,) = extra
    with pytest.raises(NotImplementedError, match=rf"Adam, argument {name}, is .*leave it out"):
        optim.Adam(Regression().parameters(), lr=0.1, **extra)


def test_what_changes_nothing_is_taken() -> None:
    """bias_correction=True and no norm are what torch does."""
    optim.Adam(Regression().parameters(), lr=0.1, bias_correction=True, max_grad_norm=None)


def test_an_unknown_argument_is_torchs_error() -> None:
    """Nothing is swallowed."""
    with pytest.raises(TypeError, match="learning_rate"):
        optim.SGD(Regression().parameters(), learning_rate=0.1)


def test_torch_has_no_lamb() -> None:
    """It is left out with a sentence."""
    with pytest.raises(NotImplementedError, match=r"LAMB is not emulated.*use AdamW"):
        optim.LAMB(Regression().parameters(), lr=0.1)
