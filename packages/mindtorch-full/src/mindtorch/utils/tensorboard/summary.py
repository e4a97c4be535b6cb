"""The summaries: what a program logs, as TensorBoard's protocol buffers."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.plugins.hparams.api_pb2 import DataType, Experiment, HParamInfo, MetricInfo, MetricName, Status
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

import mindtorch as torch

from ._convert_np import make_np
from ._media import audio, draw_boxes, image, image_boxes, make_image, make_video, video
from ._plots import compute_curve, custom_scalars, mesh, metadata, pr_curve, pr_curve_raw
from ._proto_graph import tensor_shape_proto

__all__ = [
    "audio",
    "compute_curve",
    "custom_scalars",
    "draw_boxes",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "image_boxes",
    "make_histogram",
    "make_image",
    "make_video",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor_proto",
    "text",
    "video",
]

logger = logging.getLogger(__name__)

_TENSOR_FIELDS = {
    torch.float16: ("DT_HALF", "half_val"),
    torch.bfloat16: ("DT_BFLOAT16", "half_val"),
    torch.float32: ("DT_FLOAT", "float_val"),
    torch.float64: ("DT_DOUBLE", "double_val"),
    torch.int8: ("DT_INT8", "int_val"),
    torch.uint8: ("DT_UINT8", "uint32_val"),
    torch.int16: ("DT_INT16", "int_val"),
    torch.int32: ("DT_INT32", "int_val"),
    torch.int64: ("DT_INT64", "int64_val"),
    torch.complex64: ("DT_COMPLEX64", "scomplex_val"),
    torch.complex128: ("DT_COMPLEX128", "dcomplex_val"),
    torch.bool: ("DT_BOOL", "bool_val"),
}
"""Dtype to the format's name of it, and the field that holds the values."""


def scalar(
    name: str, tensor: Any, collections: Any = None, new_style: bool = False, double_precision: bool = False
) -> Any:
    """Return the summary of one number; the newer style keeps it as a tensor, which may be of double precision."""
    data = make_np(tensor).squeeze()
    assert data.ndim == 0, (
        "Tensor should contain one element (0 dimensions).             "
        f"Was given size: {data.size} and {data.ndim} dimensions."
    )
    number = float(data)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    if double_precision:
        made = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    else:
        made = TensorProto(float_val=[number], dtype="DT_FLOAT")
    return Summary(value=[Summary.Value(tag=name, tensor=made, metadata=metadata("scalars"))])


def tensor_proto(tag: str, tensor: Any) -> Any:
    """Return the summary of a tensor's values; ValueError for a dtype the format lacks."""
    if tensor.dtype not in _TENSOR_FIELDS:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    dtype, field = _TENSOR_FIELDS[tensor.dtype]
    flat = tensor.detach().cpu().flatten()
    if field == "half_val":
        values = flat.float().view(torch.int32).tolist()
    elif tensor.is_complex():
        values = torch.view_as_real(flat).flatten().tolist()
    else:
        values = flat.tolist()
    made = TensorProto(dtype=dtype, tensor_shape=tensor_shape_proto(tensor.shape), **{field: values})
    return Summary(value=[Summary.Value(tag=tag, tensor=made, metadata=metadata("tensor"))])


def histogram_raw(
    name: str,
    min: float,
    max: float,
    num: float,
    sum: float,
    sum_squares: float,
    bucket_limits: Any,
    bucket_counts: Any,
) -> Any:
    """Return the summary of a histogram that the program computed."""
    made = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits, bucket=bucket_counts
    )
    return Summary(value=[Summary.Value(tag=name, histo=made)])


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """Return the summary of the values' distribution; `bins` as numpy's histogram takes them."""
    made = make_histogram(make_np(values).astype(float), bins, max_bins)
    return Summary(value=[Summary.Value(tag=name, histo=made)])


def make_histogram(values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """Return the distribution, from the empty bucket before the first value to the last value's bucket.

    Raises:
        ValueError: there are no values, or none lies within the bins.
    """
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        together = len(counts) // max_bins
        counts = np.add.reduceat(counts, np.arange(0, len(counts), together))
        limits = np.append(limits[:-1:together], limits[-1])
    filled = np.flatnonzero(counts)
    if not filled.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = filled[0], filled[-1]
    return HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=limits[first : last + 2].tolist(),
        bucket=[0.0, *counts[first : last + 1].tolist()],
    )


def text(tag: str, text: str) -> Any:
    """Return the summary of a text, which is shown as Markdown."""
    shown = metadata("text", TextPluginData(version=0).SerializeToString())
    made = TensorProto(dtype="DT_STRING", string_val=[text.encode()], tensor_shape=tensor_shape_proto([1]))
    return Summary(value=[Summary.Value(tag=tag + "/text_summary", metadata=shown, tensor=made)])


def hparams(hparam_dict: Any = None, metric_dict: Any = None, hparam_domain_discrete: Any = None) -> tuple[Any, ...]:
    """Return three summaries: which settings and metrics there are, the settings of this run, and its end.

    Raises:
        TypeError: what should be a dict is none, or a domain is no list of the type of its setting.
        ValueError: a setting that is no number, text, bool or tensor of one number.
    """
    for name, value in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(value, dict):
            message = f"parameter: {name} should be a dictionary, nothing logged."
            logger.warning(message)
            raise TypeError(message)
    domains = hparam_domain_discrete or {}
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for key, domain in domains.items():
        kind = type(hparam_dict.get(key))
        if key not in hparam_dict or not isinstance(domain, list) or not all(isinstance(one, kind) for one in domain):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{key}] should be a list of same type as hparam_dict[{key}]."
            )
    start, infos = SessionStartInfo(), []
    for key, value in hparam_dict.items():
        if value is not None:
            infos.append(_setting(key, value, domains.get(key), start))
    metrics = [MetricInfo(name=MetricName(tag=key)) for key in metric_dict]
    experiment = HParamsPluginData(experiment=Experiment(hparam_infos=infos, metric_infos=metrics), version=0)
    begun = HParamsPluginData(session_start_info=start, version=0)
    ended = HParamsPluginData(session_end_info=SessionEndInfo(status=Status.Value("STATUS_SUCCESS")), version=0)
    parts = {"experiment": experiment, "session_start_info": begun, "session_end_info": ended}
    return tuple(
        Summary(
            value=[Summary.Value(tag=f"_hparams_/{name}", metadata=metadata("hparams", content.SerializeToString()))]
        )
        for name, content in parts.items()
    )


def _setting(key: str, value: Any, domain: list[Any] | None, start: Any) -> Any:
    """Enter a setting's value into `start`; return its entry among the settings."""
    if isinstance(value, str):
        kind, field = "DATA_TYPE_STRING", "string_value"
    elif isinstance(value, (int, float)):  # truth values, too, as torch logs them
        kind, field = "DATA_TYPE_FLOAT64", "number_value"
    elif isinstance(value, torch.Tensor):
        kind, field = "DATA_TYPE_FLOAT64", "number_value"
        value = make_np(value)[0]
    else:
        raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
    setattr(start.hparams[key], field, value)
    values = None
    if domain is not None:
        values = struct_pb2.ListValue(values=[struct_pb2.Value(**{field: one}) for one in domain])
    return HParamInfo(name=key, type=DataType.Value(kind), domain_discrete=values)
