"""`checkpoint` and `checkpoint_sequential`: the calls users make."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import mindtorch as torch

from ._debug import OperatorLogs
from ._frame import CheckpointError, Frame, leaving_slots
from ._reentrant import CheckpointFunction
from ._replay import Surroundings
from ._settings import settings

ContextPair = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


def noop_context_fn() -> ContextPair:
    """No context for the forward pass, none for the recomputation.

    >>> import torch.utils.checkpoint
    >>> len(torch.utils.checkpoint.noop_context_fn())
    2
    """
    return nullcontext(), nullcontext()


def _shape_of(tensor: Any) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS: dict[str, Callable[[Any], dict[str, Any]] | None] = {"default": _shape_of, "none": None}


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], ContextPair] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function`` without keeping what its backward needs; it runs again when backward gets there.

    >>> import torch.utils.checkpoint
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(lambda x: x**3, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(12.)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be "
            "passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will "
            "raise an exception. use_reentrant=False is "
            "recommended, but if you need to preserve the current default "
            "behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        with region(function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop):
            return function(*args, **kwargs)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(arg for arg in kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


@contextmanager
def region(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve_rng_state: bool,
    context_fn: Callable[[], ContextPair],
    determinism_check: str,
    debug: bool,
    early_stop: bool,
) -> Iterator[None]:
    """Keep nothing of what happens within the block for its backward, which calls ``function`` again."""
    explaining = settings["debug"] if settings["debug"] is not None else debug
    explain: Callable[[CheckpointError], None] = lambda error: None  # noqa: E731 - the default of a callback
    if explaining:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        logs = OperatorLogs()
        context_fn, explain = logs.contexts, logs.explain
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS.keys())}, but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    surroundings = Surroundings((*args, *kwargs.values()), preserve_rng_state)

    def recompute(*inputs: Any) -> None:
        # The function runs again with everything around it as it was.
        with surroundings.entered(), recompute_context:
            function(*inputs, **kwargs)

    stop = settings["early_stop"] if settings["early_stop"] is not None else early_stop
    frame = Frame(recompute, stop, explain, _CHECKS[determinism_check])
    if not torch.is_grad_enabled():
        with forward_context:
            yield
        return
    frame.save_inputs(args)
    with leaving_slots(frame), forward_context:
        yield
    frame.forward_completed = True


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run modules one after the other in ``segments`` pieces, all but the last checkpointed.

    >>> import torch.utils.checkpoint
    >>> layers = [torch.nn.ReLU(), torch.nn.Tanh()]
    >>> torch.utils.checkpoint.checkpoint_sequential(layers, 2, torch.zeros(2), use_reentrant=False)
    tensor([0., 0.])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant "
            "parameter should be passed explicitly. "
            "In version 2.9 we will raise an exception if use_reentrant "
            "is not passed. use_reentrant=False is "
            "recommended, but if you need to preserve the current default "
            "behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(arg for arg in kwargs))
    steps = list(functions.children()) if isinstance(functions, torch.nn.Sequential) else list(functions)

    def piece(start: int, end: int) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for index in range(start, end):
                value = steps[index](value)
            return value

        return run

    size = len(steps) // segments
    start = 0
    for _ in range(segments - 1):
        input = checkpoint(piece(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
        start += size
    return piece(start, len(steps))(input)
