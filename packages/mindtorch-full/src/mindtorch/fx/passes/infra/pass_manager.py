"""`torch.fx.passes.infra.pass_manager`: running passes in an order that keeps to constraints."""

from __future__ import annotations

import collections
import functools
import inspect
import logging
from collections.abc import Callable

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.passes._pass_order import Constraint, Pass, Schedule, before, check_order
from mindtorch.fx.passes.infra.pass_base import PassResult
from mindtorch.nn import Module

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

logger = logging.getLogger("torch.fx.passes.infra.pass_manager")
logger.setLevel(logging.WARNING)


@compatibility(is_backward_compatible=False)
def pass_result_wrapper(fn: Pass | None) -> Pass | None:
    """Return a pass that gives a `PassResult` where `fn` gives a module, or nothing and changes its argument.

    >>> from torch.fx.passes.infra.pass_manager import pass_result_wrapper
    >>> ran = pass_result_wrapper(lambda module: module.graph.eliminate_dead_code())
    >>> ran.__name__
    '<lambda>'
    """
    if fn is None:
        return None

    @functools.wraps(fn)
    def wrapped_fn(gm: Module) -> PassResult | None:
        found = fn(gm)
        if found is None:
            return PassResult(gm, True)
        if isinstance(found, PassResult):
            return found
        return PassResult(found, True) if isinstance(found, Module) else None

    if not inspect.isfunction(fn):
        wrapped_fn.__name__ = type(fn).__name__
    return wrapped_fn


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    """Raise RuntimeError where a constraint forbids the order."""
    check_order(constraint, passes, gap=" ")


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """Return the passes in an order that the constraints allow.

    Raises:
        RuntimeError: there is none.
    """
    if not constraints:
        return passes
    after: dict[Pass, list[Pass]] = {one: [] for one in passes}
    waiting = dict.fromkeys(passes, 0)
    ready: collections.deque[Pass] = collections.deque()
    for late in passes:
        for early in passes:
            for constraint in constraints:
                if late != early and not constraint(late, early):
                    after[early].append(late)
                    waiting[late] += 1
        if waiting[late] == 0:
            ready.append(late)
    done: dict[Pass, None] = {}
    order: list[Pass] = []
    while ready:
        current = ready.popleft()
        order.append(current)
        done[current] = None
        for late in after[current]:
            if late in done:
                continue
            waiting[late] -= 1
            if waiting[late] == 0:
                ready.append(late)
    circle = [one for one, count in waiting.items() if count]
    if circle:
        raise RuntimeError(f"Circular dependency detected within the following passes: {circle}")
    return order


@compatibility(is_backward_compatible=False)
def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """Return the constraint that `this` runs before `that`.

    >>> from torch.fx.passes.infra.pass_manager import this_before_that_pass_constraint
    >>> in_order = this_before_that_pass_constraint(len, str)
    >>> in_order(len, str), in_order(str, len)
    (True, False)
    """
    return before(this, that)


def _name(one: Pass) -> str:
    return one.__name__ if inspect.isfunction(one) else type(one).__name__


@compatibility(is_backward_compatible=False)
class PassManager(Schedule):
    """Runs passes, each of which takes a module and gives a `PassResult`.

    Args:
        passes: the passes.
        constraints: functions of two passes that say whether the first may run before the second.
        steps: how often the passes run at most; they stop when none changes anything.
        run_checks_after_each_pass: call `check` after each pass too.
        suppress_check_failures: kept as an attribute.

    >>> from torch.fx.passes.infra.pass_manager import PassManager
    >>> from torch.fx.passes.infra.pass_base import PassBase, PassResult
    >>> class Clean(PassBase):
    ...     def call(self, module):
    ...         return PassResult(module, module.graph.eliminate_dead_code())
    >>> def f(x):
    ...     x + 1
    ...     return x
    >>> PassManager(passes=[Clean()])(torch.fx.symbolic_trace(f)).modified
    True
    """

    steps: int = 1

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        super().__init__(passes, constraints)
        if steps:
            self.steps = steps
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def validate_constraints(self) -> None:
        """Raise RuntimeError if the passes are not in an order that the constraints allow."""
        self._check_all(gap=" ")

    def solve_constraints(self) -> None:
        """Put the passes into an order that the constraints allow.

        Raises:
            RuntimeError: there is none.
        """
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Let `check` look at the module before the passes, and after each if that is wanted.

        Raises:
            TypeError: it takes no single argument.
        """
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Module) -> None:
        """Accept any module."""

    def __call__(self, module: Module) -> PassResult:
        """Run the passes on a module.

        Raises:
            Exception: a pass failed; its error is the cause.
        """
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            module, modified = self._round(module)
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)

    def _round(self, module: Module) -> tuple[Module, bool]:
        changed = False
        for index, one in enumerate(self.passes):
            name = _name(one)
            logger.debug("Running pass '%s'", name)
            try:
                found = one(module)
                if not isinstance(found, PassResult) and not hasattr(found, "graph_module"):
                    raise TypeError(
                        f"The result of the pass {name} should be type PassResult.Please wrap it with pass_result_wrapper()"
                    )
                module = found.graph_module
                changed = changed or found.modified
                if isinstance(module, GraphModule):
                    logger.debug("Graph after pass '%s': %s", name, module.graph)
                    module.recompile()
                if self.run_checks_after_each_pass:
                    self.check(module)
            except Exception as error:
                before = [_name(earlier) for earlier in self.passes[:index]]
                message = f"An error occurred when running the '{name}' pass after the following passes: {before}"
                raise Exception(message) from error
        return module, changed


adopt(globals())
