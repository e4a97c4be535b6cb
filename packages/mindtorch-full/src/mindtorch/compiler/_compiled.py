"""What `torch.compile` makes: functions whose calls are recorded and run with neighbouring ops joined.

There is no compiler of Python code. A call runs the function inside of a fusing pipeline, so that the function's own
Python decides, every time, what happens: nothing is specialised, nothing can go stale, and reading a value inside of the
function runs what was recorded before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.nn.modules.module import Module
from mindtorch_dispatch.pipeline import pipeline_context
from mindtorch_dispatch.state import state
from mindtorch_storage.deferred import thread

from ._phases import entered, of_compiled


def can_record() -> bool:
    """Return whether calls may be recorded now: not while Python modes or forward-mode differentiation must see each of
    them, and not again inside of a pipeline."""
    mode = state.mode
    return not (mode.overriding or mode.forward_ad or mode.include or mode.exclude or thread.pipe is not None)


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` so that each call runs in a fusing pipeline where that is valid, and plainly elsewhere."""

    @functools.wraps(function)
    def compile_wrapper(*args: Any, **kwargs: Any) -> Any:
        with entered(of_compiled()):
            if not can_record():
                return function(*args, **kwargs)
            with pipeline_context(fuse=True, strict=False):
                return function(*args, **kwargs)

    return compile_wrapper


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` under another identity, as the eager backend does."""

    @functools.wraps(function)
    def compile_wrapper(*args: Any, **kwargs: Any) -> Any:
        with entered(of_compiled()):
            return function(*args, **kwargs)

    return compile_wrapper


Way = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What makes the compiled form of a function: `plain`, `recorded`, or one that has a backend compile its graphs."""


def compiled_function(function: Callable[..., Any], way: Way) -> Callable[..., Any]:
    """Return the compiled form of a function; what is compiled already is compiled anew from its origin."""
    origin = getattr(function, "_torchdynamo_orig_callable", function)
    made: Any = way(origin)
    made._torchdynamo_orig_callable = origin
    return made  # type: ignore[no-any-return]


class OptimizedModule(Module):
    """A module made by `torch.compile`: it holds the original as `_orig_mod` and answers for it.

    Attributes are those of the original, set there and deleted there; its parameters' names begin with `_orig_mod.`.
    """

    def __init__(self, mod: Module, dynamo_ctx: Any = None) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod
        object.__setattr__(self, "_dynamo_ctx", dynamo_ctx)
        compiled = compiled_function(mod.__call__, dynamo_ctx or recorded)
        object.__setattr__(self, "forward", compiled)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._modules["_orig_mod"], self.__dict__["_dynamo_ctx"])

    @property
    def training(self) -> bool:  # type: ignore[override]
        """The original's."""
        return self._modules["_orig_mod"].training  # type: ignore[union-attr]

    @training.setter
    def training(self, mode: bool) -> None:
        if "_orig_mod" in self.__dict__.get("_modules", ()):
            self._modules["_orig_mod"].training = mode  # type: ignore[union-attr]

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "training" or "_orig_mod" not in self.__dict__.get("_modules", ()):
            object.__setattr__(self, name, value)
        elif name == "_orig_mod":
            self._modules[name] = value
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})


adopt(globals())
OptimizedModule.__module__ = "torch._dynamo.eval_frame"
