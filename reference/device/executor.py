"""Decides how one call of a model runs on the emulated device: micro-batch after micro-batch, in the user's own module.

    for each device iteration:
        for each accumulation:
            for each replica: forward, and in training backward
        in training: reduce the gradients, update the weights

Replicas are emulated one after the other by the same module, so their weights are equal because there is but one copy
(DEVICE-10). An update comes after the last micro-batch of its device iteration, so no replica sees it early.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from ..enums import OutputMode, ReductionType
from ..options.options import Options
from .errors import ModelError
from .instances import add_gradients, join, share_weights
from .losses import loss_of
from .micro_batches import Factors, cut, factors_of, synthetic
from .outputs import check_period, chosen_mode, returned
from .tensors import mapped
from .watching import Watch


@dataclass(frozen=True)
class CallPlan:
    """What options make of every call; read once, when a model is built with them."""

    factors: Factors
    mode: OutputMode
    period: int
    is_synthetic: bool
    gradient_divisor: int
    """How many micro-batches there are in an update, over all ranks, if their mean is taken; 1 for their sum."""
    is_distributed: bool


def plan_calls(options: Options, training: bool) -> CallPlan:
    """Return the plan of these options. Raises ModelError for what can't be."""
    factors = factors_of(options)
    if not training and factors.accumulation > 1:
        # DEVICE-8
        raise ModelError(
            f"Training.gradientAccumulation is {factors.accumulation}, but inference has no gradients that could be "
            f"accumulated: set it to 1 in the options of inferenceModel, and use deviceIterations for more "
            f"micro-batches in a call."
        )
    mode = chosen_mode(options.output_mode, training)
    check_period(mode, options.output_return_period, factors.times)
    instances = options.Distributed.numProcesses
    is_mean = options.Training.accumulation_and_replication_reduction_type is ReductionType.Mean
    return CallPlan(
        factors=factors,
        mode=mode,
        period=options.output_return_period,
        is_synthetic=options.synthetic_data,
        gradient_divisor=factors.accumulation * factors.replicas * instances if is_mean else 1,
        is_distributed=training and instances > 1,
    )


@dataclass
class Executor:
    """Runs calls; `optimizer` is None in inference."""

    module: torch.nn.Module
    options: Options
    plan: CallPlan
    optimizer: torch.optim.Optimizer | None
    _is_ready: bool = field(default=False, init=False)

    def prepare(self, arguments: Any) -> None:
        """Refuse a step that can't be run; before the first one, let all ranks begin with equal weights."""
        self.plan.factors.check(arguments)
        if self.plan.is_distributed and not self._is_ready:
            join(self.options)
            share_weights(self.module)
        self._is_ready = True

    def run(self, arguments: Any) -> Any:
        """Run one step and return its results. In training the weights are new after it."""
        # DEVICE-1, DEVICE-7: all of the step is used, or none of it.
        self.prepare(arguments)
        factors = self.plan.factors
        made = synthetic(arguments, factors) if self.plan.is_synthetic else None
        rows = []
        # DEVICE-3: an iteration begins with the weights that the one before has left, as a call does.
        for iteration in range(factors.iterations):
            self._forget_gradients()
            for accumulation in range(factors.accumulation):
                time = iteration * factors.accumulation + accumulation
                parts = [factors.part(time, replica) for replica in range(factors.replicas)]
                rows.append([self._micro_batch(arguments, made, part) for part in parts])
            self._update()
        return returned(rows, self.plan.mode, self.plan.period)

    def _micro_batch(self, arguments: Any, made: Any, part: int) -> Any:
        """Run one micro-batch of one replica; return its results, which nothing changes afterwards."""
        given, named = cut(arguments, self.plan.factors, part) if made is None else mapped(made, torch.clone)
        if self.optimizer is None:
            # DEVICE-14: in inference there is nothing but the module's own forward.
            with torch.no_grad():
                result = self.module(*given, **named)
        else:
            with torch.enable_grad():
                with Watch() as watch:
                    result = self.module(*given, **named)
                # DEVICE-4, DEVICE-5: autograd adds the micro-batches up; divided, they add up to their mean.
                (loss_of(result, watch) / self.plan.gradient_divisor).backward()  # type: ignore[no-untyped-call]
        return mapped(result, lambda tensor: tensor.detach().clone())

    def _update(self) -> None:
        # DEVICE-11: the module is the user's own, and so is the optimizer.
        if self.optimizer is None:
            return
        if self.plan.is_distributed:
            add_gradients(parameters_of(self.optimizer))
        self.optimizer.step()
        self._forget_gradients()

    def _forget_gradients(self) -> None:
        if self.optimizer is not None:
            # Also those of parameters that are not trained; they would add up from call to call.
            for parameter in (*self.module.parameters(), *parameters_of(self.optimizer)):
                parameter.grad = None


def parameters_of(optimizer: torch.optim.Optimizer) -> list[torch.nn.Parameter]:
    """Return what an optimizer trains, in order."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
