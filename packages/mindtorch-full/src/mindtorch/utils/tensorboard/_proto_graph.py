"""The protocol buffers of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from mindtorch._naming import adopt

__all__ = ["attr_value_proto", "node_proto", "tensor_shape_proto"]


def tensor_shape_proto(outputsize: Sequence[int]) -> Any:
    """Return a shape."""
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in outputsize])


def attr_value_proto(dtype: Any, shape: Sequence[int] | None, s: str | None) -> dict[str, Any]:
    """Return a node's attributes: its text and the shape it gives, where they are known."""
    made: dict[str, Any] = {}
    if s is not None:
        made["attr"] = AttrValue(s=s.encode(encoding="utf_8"))
    if shape is not None:
        made["_output_shapes"] = AttrValue(list=AttrValue.ListValue(shape=[tensor_shape_proto(shape)]))
    return made


def node_proto(
    name: str,
    op: str = "UnSpecified",
    input: Any = None,
    dtype: Any = None,
    shape: Any = None,
    outputsize: Sequence[int] | None = None,
    attributes: str = "",
) -> Any:
    """Return a node; `dtype` and `shape` have no effect, as in torch."""
    given = [] if input is None else input if isinstance(input, list) else [input]
    return NodeDef(
        name=name.encode(encoding="utf_8"), op=op, input=given, attr=attr_value_proto(dtype, outputsize, attributes)
    )


adopt(globals())
