"""A fault that is planted in torch's own sampler is found, and the sampler itself is not accused there."""

import pytest
from torch.utils.data.distributed import DistributedSampler

from conformance.loader.scenario import from_code
from tests.museum.judged import judged, violated
from tests.museum.planted import PLANTED, Adapter, Planted, planted


@pytest.mark.parametrize("sampler", PLANTED, ids=lambda sampler: sampler.__name__)
def test_the_fault_is_what_the_case_shows(sampler: type[Planted]) -> None:
    """The clause is violated with the fault, and holds without it, in the same case."""
    case = (sampler.clause, from_code(sampler.smallest))
    with planted(sampler):
        assert {sampler.clause: sampler.smallest} == violated(judged(Adapter, case=case))
    with planted(DistributedSampler):
        assert {} == violated(judged(Adapter, case=case))
