"""Summaries of precision-recall curves, meshes and layouts of charts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from ._convert_np import make_np
from ._proto_graph import tensor_shape_proto

__all__ = ["compute_curve", "custom_scalars", "mesh", "pr_curve", "pr_curve_raw"]

_MOST_THRESHOLDS = 127  # the plugin's protocol buffers hold no more
_LEAST = 1e-7  # a quotient of nothing by nothing is nothing

Array = np.ndarray[Any, Any]


def metadata(plugin: str, content: bytes = b"") -> Any:
    """Return what says which plugin shows a summary."""
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content))


def custom_scalars(layout: dict[str, dict[str, list[Any]]]) -> Any:
    """Return the layout of charts: by category and title `["Multiline", tags]` or `["Margin", three tags]`."""
    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                assert len(tags) == 3, f"Expected 3 tags for Margin chart, got {len(tags)}."
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                content = {"margin": layout_pb2.MarginChartContent(series=[series])}
            else:
                content = {"multiline": layout_pb2.MultilineChartContent(tag=tags)}
            made.append(layout_pb2.Chart(title=title, **content))
        categories.append(layout_pb2.Category(title=category, chart=made))
    text = layout_pb2.Layout(category=categories).SerializeToString()
    tensor = TensorProto(dtype="DT_STRING", string_val=[text], tensor_shape=tensor_shape_proto(()))
    value = Summary.Value(tag="custom_scalars__config__", tensor=tensor, metadata=metadata("custom_scalars"))
    return Summary(value=[value])


def compute_curve(labels: Array, predictions: Array, num_thresholds: int | None = None, weights: Any = None) -> Array:
    """Return true and false positives, true and false negatives, precision and recall, at each threshold."""
    count = 201 if num_thresholds is None else num_thresholds
    each = 1.0 if weights is None else weights
    buckets = np.int32(np.floor(predictions * (count - 1)))
    truth = labels.astype(np.float64)

    def reached(share: Array) -> Array:
        found, _ = np.histogram(buckets, bins=count, range=(0, count - 1), weights=share * each)
        return np.cumsum(found[::-1])[::-1]

    true_positive, false_positive = reached(truth), reached(1.0 - truth)
    true_negative, false_negative = false_positive[0] - false_positive, true_positive[0] - true_positive
    precision = true_positive / np.maximum(_LEAST, true_positive + false_positive)
    recall = true_positive / np.maximum(_LEAST, true_positive + false_negative)
    return np.stack((true_positive, false_positive, true_negative, false_negative, precision, recall))


def pr_curve(tag: str, labels: Array, predictions: Array, num_thresholds: int = 127, weights: Any = None) -> Any:
    """Return the summary of the curve of these predictions."""
    count = min(num_thresholds, _MOST_THRESHOLDS)
    return _curve(tag, compute_curve(labels, predictions, num_thresholds=count, weights=weights), count)


def pr_curve_raw(
    tag: str,
    tp: Array,
    fp: Array,
    tn: Array,
    fn: Array,
    precision: Array,
    recall: Array,
    num_thresholds: int = 127,
    weights: Any = None,
) -> Any:
    """Return the summary of a curve that the program computed; the weights are in the counts already."""
    return _curve(tag, np.stack((tp, fp, tn, fn, precision, recall)), min(num_thresholds, _MOST_THRESHOLDS))


def _curve(tag: str, data: Array, count: int) -> Any:
    content = PrCurvePluginData(version=0, num_thresholds=count).SerializeToString()
    tensor = TensorProto(
        dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(), tensor_shape=tensor_shape_proto(data.shape)
    )
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata("pr_curves", content), tensor=tensor)])


def mesh(
    tag: str,
    vertices: Any,
    colors: Any,
    faces: Any,
    config_dict: Any,
    display_name: str | None = None,
    description: str | None = None,
) -> Any:
    """Return the summary of points, with the colours and the triangles where they are given."""
    given = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
    present = {name: value for name, value in given.items() if value is not None}
    components = sum(1 << MeshPluginData.ContentType.Value(name) for name in present)
    values = []
    for name, value in present.items():
        data = make_np(value)
        content = MeshPluginData(
            version=0,
            name=tag,
            content_type=MeshPluginData.ContentType.Value(name),
            components=components,
            shape=data.shape,
            json_config="{}" if config_dict is None else json.dumps(config_dict, sort_keys=True),
        )
        shown = metadata("mesh", content.SerializeToString())
        shown.display_name, shown.summary_description = display_name or "", description or ""
        tensor = TensorProto(
            dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(), tensor_shape=tensor_shape_proto(data.shape)
        )
        values.append(Summary.Value(tag=f"{tag}_{name}", tensor=tensor, metadata=shown))
    return Summary(value=values)
