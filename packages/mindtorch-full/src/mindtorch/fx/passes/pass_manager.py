"""`torch.fx.passes.pass_manager`: passes that give the changed object itself."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx.passes._pass_order import Constraint, Pass, Schedule, before, check_order

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "log_hook",
    "loop_pass",
    "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]

logger = logging.getLogger("torch.fx.passes.pass_manager")


def inplace_wrapper(fn: Pass) -> Pass:
    """Return a pass that gives its first argument, which `fn` changes.

    >>> from torch.fx.passes.pass_manager import inplace_wrapper
    >>> inplace_wrapper(lambda found: found.append(3))([1])
    [1, 3]
    """

    @functools.wraps(fn)
    def wrapped_fn(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped_fn


def log_hook(fn: Pass, level: int = logging.INFO) -> Pass:
    """Return a pass that does what `fn` does and writes what it gave to the log.

    >>> from torch.fx.passes.pass_manager import log_hook
    >>> log_hook(lambda x: x * 2)(4)
    8
    """

    @functools.wraps(fn)
    def wrapped_fn(*args: Any, **kwargs: Any) -> Any:
        found = fn(*args, **kwargs)
        logger.log(level, "Ran pass %s\t Return value: %s", fn, found)
        return found

    return wrapped_fn


def loop_pass(base_pass: Pass, n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None) -> Pass:
    """Return a pass that runs `base_pass` `n_iter` times, or as long as `predicate` accepts what it gave.

    Raises:
        AssertionError: both are given, or neither.

    >>> from torch.fx.passes.pass_manager import loop_pass
    >>> loop_pass(lambda x: x * 2, n_iter=3)(1)
    8
    """
    if (n_iter is None) == (predicate is None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @functools.wraps(base_pass)
    def new_pass(source: Any) -> Any:
        if n_iter is not None and n_iter > 0:
            for _ in range(n_iter):
                source = base_pass(source)
        elif predicate is not None:
            while predicate(source):
                source = base_pass(source)
        else:
            raise RuntimeError(
                f"loop_pass must be given positive int n_iter (given {n_iter}) xor predicate (given {predicate})"
            )
        return source

    return new_pass


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    """Raise RuntimeError where a constraint forbids the order."""
    check_order(constraint, passes, gap="")


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """Return the constraint that `this` runs before `that`.

    >>> from torch.fx.passes.pass_manager import this_before_that_pass_constraint
    >>> in_order = this_before_that_pass_constraint(len, str)
    >>> in_order(len, str), in_order(str, len)
    (True, False)
    """
    return before(this, that)


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Constraint:
    """Return the constraint that passes around `these` run before passes around `those`.

    >>> from torch.fx.passes.pass_manager import these_before_those_pass_constraint
    >>> these_before_those_pass_constraint(len, str)(len, str)
    True
    """

    def depends_on(a: Pass, b: Pass) -> bool:
        return inspect.unwrap(a) != those or inspect.unwrap(b) != these

    return depends_on


class PassManager(Schedule):
    """Runs passes one after the other, each on what the one before gave; constraints are checked, not solved.

    >>> from torch.fx.passes.pass_manager import PassManager
    >>> PassManager([lambda x: x + 1, lambda x: x * 2])(3)
    8
    """

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> PassManager:
        """Return a manager of these passes."""
        return PassManager(passes)

    def remove_pass(self, _passes: list[str]) -> None:
        """Remove the passes of these names."""
        if _passes is None:
            return
        self.passes = [one for one in self.passes if one.__name__ not in _passes]
        self._validated = False

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Put `_replacement` in the place of every pass that is called as `_target` is."""
        self.passes = [_replacement if one.__name__ == _target.__name__ else one for one in self.passes]
        self._validated = False

    def validate(self) -> None:
        """Raise RuntimeError if a constraint forbids the order of the passes."""
        self._check_all(gap="")

    def __call__(self, source: Any) -> Any:
        """Run the passes."""
        self.validate()
        for one in self.passes:
            source = one(source)
        return source


adopt(globals())
