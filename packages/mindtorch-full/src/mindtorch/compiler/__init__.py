"""`torch.compiler`: compiling runs a function in a fusing pipeline; the hints to a compiler have nothing to change."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.compiler import _eager
from mindtorch.compiler._eager import (
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    get_default_backend,
    list_backends,
    set_default_backend,
    set_stance,
    substitute_in_graph,
)
from mindtorch.compiler._phases import Phase, running

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "load_cache_artifacts",
    "nested_compile_region",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "substitute_in_graph",
]

_guard_collectives = {"enabled": False}


def is_compiling() -> bool:
    """Return whether this code is part of a compiled function, or being exported.

    >>> torch.compiler.is_compiling(), torch.compile(torch.compiler.is_compiling)()
    (False, True)
    """
    return running.phase is not Phase.NONE


def is_dynamo_compiling() -> bool:
    """Return whether this code is part of a compiled function.

    >>> torch.compiler.is_dynamo_compiling(), torch.compile(torch.compiler.is_dynamo_compiling)()
    (False, True)
    """
    return running.phase is Phase.COMPILED


def is_exporting() -> bool:
    """Return whether this code is being exported.

    >>> torch.compiler.is_exporting()
    False
    """
    return running.phase is Phase.EXPORTED


def reset() -> None:
    """Forget the graphs that were compiled, and the default backend.

    >>> torch.compiler.reset()
    """
    _eager.set_default_backend(None)
    _eager.forget_graphs()


def cudagraph_mark_step_begin() -> None:
    """Mark the start of a step; without graphs nothing begins.

    >>> torch.compiler.cudagraph_mark_step_begin()
    """


def save_cache_artifacts() -> Any:
    """Return the compiler's caches: None, there are none.

    >>> print(torch.compiler.save_cache_artifacts())
    None
    """
    return None


def load_cache_artifacts(serialized_artifacts: bytes) -> Any:
    """Load what `save_cache_artifacts` returned in another process; nothing here could use it: None.

    >>> print(torch.compiler.load_cache_artifacts(b""))
    None
    """
    return None


def nested_compile_region(
    fn: Any = None, *, options: Any = None, max_reuse_entries: int = 8, reuse_hash_fn: Any = None
) -> Any:
    """Return ``fn`` unchanged; a region of something that is not compiled.

    >>> torch.compiler.nested_compile_region(lambda x: x + 1)(1)
    2
    """
    return _eager.disable(fn)


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Keep the setting and return what it was; there are no guards.

    >>> torch.compiler.set_enable_guard_collectives(True)
    False
    >>> torch.compiler.set_enable_guard_collectives(False)
    True
    """
    before = _guard_collectives["enabled"]
    _guard_collectives["enabled"] = enabled
    return before


adopt(globals())
