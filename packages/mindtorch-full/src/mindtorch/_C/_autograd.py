"""`torch._C._autograd`: what the engine shows of saved tensors, views and the profiler."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._naming import adopt
from mindtorch._profiling.device import DeviceType
from mindtorch_autograd import running
from mindtorch_autograd.node import OpNode
from mindtorch_autograd.saved import SavedTensor, hook_stack, pack
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.state import state
from mindtorch_storage.lazy_import import LazyModule

__all__ = ["CreationMeta", "DeviceType", "SavedTensor"]

_get_current_graph_task_keep_graph = running.keeps_graph


class CreationMeta(enum.Enum):
    """How a view came to be, which decides what writing to it means."""

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2
    NO_GRAD_MODE = 3
    INFERENCE_MODE = 4


_profile = LazyModule("mindtorch._C._profile", "only programs that switch a profiler off by hand need it")
_KINDS = dict(zip(CreationMeta, ("default", "custom", "multi_output", "no_grad", "inference"), strict=True))
_NO_VIEW = (
    "Expected meta != nullptr to be true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)


def _view_of(tensor: Any) -> Any:
    if tensor._view is None:
        raise RuntimeError(_NO_VIEW)
    return tensor._view


def _get_creation_meta(tensor: Any) -> CreationMeta:
    """Return how a view came to be; RuntimeError for what is no view."""
    have = _view_of(tensor).creation
    return next(meta for meta, kind in _KINDS.items() if kind == have)


def _set_creation_meta(tensor: Any, meta: CreationMeta) -> None:
    """Say how a view came to be; RuntimeError for what is no view."""
    _view_of(tensor).creation = _KINDS[meta]


def _get_data_attr(tensor: Any) -> Any:
    """Return `tensor.data`."""
    return tensor.data


def _unsafe_set_version_counter(tensors: Sequence[Any], versions: Sequence[int]) -> None:
    """Set the versions of tensors, which hides writes from the graph."""
    for tensor, version in zip(tensors, versions, strict=True):
        tensor._counter[0] = version


class _Loose(OpNode):
    """What holds a tensor that was saved without a call."""

    __slots__ = ()


def _make_saved_tensor(tensor: Any, is_output: bool, is_inplace_on_view: bool = False) -> SavedTensor:
    """Return `tensor` as a node would hold it."""
    node = _Loose()
    node._saved = [pack(tensor, 0 if is_output else None, node), tensor._counter[0]]
    return SavedTensor(node, (node._saved, 0))


def _get_sequence_nr() -> int:
    """Return the sequence number that the next node gets."""
    return wired.next_sequence()


def _saved_tensors_hooks_is_enabled() -> bool:
    """Return whether hooks on saved tensors may be used."""
    return not isinstance(state.mode.saved_hooks, str)


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    """Return the text with which hooks are refused, None while they are not."""
    return None if _saved_tensors_hooks_is_enabled() else state.mode.saved_hooks


def _saved_tensors_hooks_disable(error_message: str, fail_if_non_empty: bool = True) -> None:
    """Refuse hooks with this text from now on; RuntimeError with it when there are some already."""
    if hook_stack.pairs and fail_if_non_empty:
        raise RuntimeError(error_message)
    state.mode = state.mode.replace(saved_hooks=error_message)


def _saved_tensors_hooks_enable() -> None:
    """Allow hooks again."""
    state.mode = state.mode.replace(saved_hooks=True if hook_stack.pairs else None)


def _push_saved_tensors_default_hooks(pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
    """Let what is saved from now on go through the hooks; RuntimeError while they are refused."""
    if not _saved_tensors_hooks_is_enabled():
        raise RuntimeError(state.mode.saved_hooks)
    hook_stack.pairs.append((pack_hook, unpack_hook))
    state.mode = state.mode.replace(saved_hooks=True)


def _pop_saved_tensors_default_hooks() -> None:
    """Take the innermost hooks away; RuntimeError when there are none."""
    if not hook_stack.pairs:
        raise RuntimeError("is_initialized && !tls.stack.empty() INTERNAL ASSERT FAILED")
    hook_stack.pairs.pop()
    _saved_tensors_hooks_enable()


def _top_saved_tensors_default_hooks(ignore_is_tracing: bool) -> Any:
    """Return the innermost hooks, None when there are none."""
    return hook_stack.pairs[-1] if hook_stack.pairs else None


def _profiler_enabled() -> bool:
    """Return whether this thread is being profiled."""
    return state.mode.profiling


def _disable_profiler() -> Any:
    """Switch this thread's innermost profiler off and return what it recorded; where none runs, say so on stderr."""
    return _profile.disable()


def __getattr__(name: str) -> Any:
    if name in ("_KinetoEvent", "_ProfilerResult"):
        return getattr(_profile, name)
    raise AttributeError(f"module 'torch._C._autograd' has no attribute {name!r}")


adopt(globals())
