"""Operators whose arguments are changed between a graph's runs: how each is recorded, and where its arguments lie."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from mindtorch._ops import ops

if TYPE_CHECKING:
    from mindtorch.npu._npugraph_handlers.dispatch import GraphDispatchRecord

__all__ = ["NpuGraphOpHandler", "register_npu_graph_handler"]

logger = logging.getLogger(__name__)
_Handler = TypeVar("_Handler", bound="type[NpuGraphOpHandler]")


class NpuGraphOpHandler:
    """How an operator is recorded and updated; for subclasses. The class itself is registered, it has no instances.

    >>> torch.npu.NpuGraphOpHandler().prepare_capture(None, [1], {})
    (None, [1], {})
    """

    UPDATE_SPECS: Mapping[str, Sequence[tuple[str, int | str, str]]] = {}
    """By operator: "arg" or "kwarg", the place or name among them, and the word for it in `NPUGraph.update`."""

    @classmethod
    def prepare_capture(
        cls, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Return what is called instead, and with which arguments."""
        return func, args, kwargs

    @classmethod
    def postprocess_result(cls, result: Any, kwargs: dict[str, Any]) -> Any:
        """Return what the program gets."""
        return result

    @classmethod
    def get_update_specs(cls, op_name: str) -> Sequence[tuple[str, int | str, str]]:
        """Return where an operator's arguments lie that may change."""
        return cls.UPDATE_SPECS.get(op_name, [])

    @classmethod
    def update_args(cls, dispatch_record: GraphDispatchRecord, update_input: Mapping[str, Any]) -> None:
        """Put new arguments where the record has the old ones."""
        for kind, place, word in cls.get_update_specs(dispatch_record.op_cache_entry.__name__):
            if word not in update_input:
                continue
            if kind == "kwarg":
                dispatch_record.kwargs[str(place)] = update_input[word]
            elif len(dispatch_record.args) > int(place):
                dispatch_record.args[int(place)] = update_input[word]


_NPU_GRAPH_OP_HANDLERS: dict[str, type[NpuGraphOpHandler]] = {}


def register_npu_graph_handler(op_names: str | Sequence[str]) -> Callable[[_Handler], _Handler]:
    """Return a decorator that lets a class handle operators, such as "my_op.default"."""

    def decorate(cls: _Handler) -> _Handler:
        for name in [op_names] if isinstance(op_names, str) else op_names:
            before = _NPU_GRAPH_OP_HANDLERS.get(name)
            if before is not None:
                logger.warning("%s is handled by %s from now on, not by %s", name, cls.__name__, before.__name__)
            _NPU_GRAPH_OP_HANDLERS[name] = cls
        return cls

    return decorate


def _overloads(name: str, *specs: tuple[str, int | str, str]) -> dict[str, list[tuple[str, int | str, str]]]:
    return {f"{name}{overload}": list(specs) for overload in ("", ".default", ".out")}


_INFER = _overloads(
    "npu_fused_infer_attention_score", ("arg", 5, "actual_seq_lengths"), ("arg", 6, "actual_seq_lengths_kv")
)
_INFER_2 = _overloads(
    "npu_fused_infer_attention_score_v2", ("arg", 7, "actual_seq_qlen"), ("arg", 8, "actual_seq_kvlen")
)


@register_npu_graph_handler([*_INFER, *_INFER_2])
class _Inference(NpuGraphOpHandler):
    """Attention of inference, whose lengths change."""

    UPDATE_SPECS = {**_INFER, **_INFER_2}

    @classmethod
    def prepare_capture(
        cls, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Let the results be written into tensors that are there for every run."""
        if "out" in kwargs:
            return func, args, kwargs
        packet = getattr(ops.npu, func.__name__.partition(".")[0])
        kwargs["out"] = list(getattr(ops.npu, f"_{packet.__name__}_infer_output")(*args, **kwargs))
        return packet.out, args, kwargs


@register_npu_graph_handler(["_npu_paged_attention.default", "npu_multi_head_latent_attention.out"])
class _Pages(NpuGraphOpHandler):
    """Attention over pages, whose lengths change."""

    UPDATE_SPECS = {
        "_npu_paged_attention.default": [("arg", 7, "context_lens")],
        "npu_multi_head_latent_attention.out": [("arg", 5, "context_lens")],
    }
