"""`torch.ops.quantized`: importing this defines the operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mindtorch._tensor import Tensor
from mindtorch.library import Library

from . import activations, arithmetic, dynamic, packed, products

LIBRARY = Library("quantized", "FRAGMENT")
_CLASSES = "__torch__.torch.classes.quantized"
_LINEAR = f"{_CLASSES}.LinearPackedParamsBase"
_NORM = "Tensor? weight, Tensor? bias"
_TO = "float output_scale, int output_zero_point"


def _define(schema: str, function: Callable[..., Any], key: str = "QuantizedCPU") -> None:
    LIBRARY.define(schema)
    LIBRARY.impl(schema.partition("(")[0], function, key)


def _define_linear() -> None:
    steps = f"Tensor X, {_LINEAR} W_prepack, float Y_scale_i, int Y_zero_point_i"
    rows = f"Tensor X, {_LINEAR} W_prepack"
    _define(f"linear({steps}) -> Tensor Y", products.linear)
    _define(f"linear_relu({steps}) -> Tensor Y", partial(products.linear, relu=True))
    _define(f"linear_dynamic({rows}, bool reduce_range=False) -> Tensor Y", dynamic.linear_dynamic, "CPU")
    _define(
        f"linear_relu_dynamic({rows}, bool reduce_range=False) -> Tensor Y",
        partial(dynamic.linear_dynamic, relu=True),
        "CPU",
    )
    _define(f"linear_dynamic_fp16({rows}) -> Tensor Y", dynamic.linear_dynamic_fp16, "CPU")
    _define(f"linear_relu_dynamic_fp16({rows}) -> Tensor Y", partial(dynamic.linear_dynamic_fp16, relu=True), "CPU")
    _define(f"linear_prepack(Tensor W, Tensor? B=None) -> {_LINEAR} W_prepack", packed.linear_prepack)
    _define(f"linear_prepack_fp16(Tensor W, Tensor? B=None) -> {_LINEAR} W_prepack", packed.linear_prepack_fp16, "CPU")
    for name in ("linear_unpack", "linear_unpack_fp16"):
        _define(
            f"{name}({_LINEAR} W_prepack) -> (Tensor W_origin, Tensor? B_origin)", _unpack, "CompositeExplicitAutograd"
        )


def _unpack(kept: Any) -> tuple[Any, Any]:
    found: tuple[Any, Any] = kept.unpack()
    return found


def _by_hand(relu: bool) -> Callable[..., Any]:
    def run(qx: Tensor, kept: Any, scale: float, zero_point: int) -> Any:
        return products.conv(qx, kept, scale, zero_point, relu)

    return run


def _prepack(rank: int, transposed: bool) -> Callable[..., Any]:
    def plain(weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
        return made(weight, bias, stride, padding, [0] * rank, dilation, groups)

    def made(weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: int) -> Any:
        steps = tuple(tuple(one)[-rank:] for one in (stride, padding, output_padding, dilation))
        return packed.conv_prepack(weight, bias, (*steps, groups), transposed)

    return made if transposed else plain


def _define_conv(rank: int) -> None:
    kept = f"{_CLASSES}.Conv{max(rank, 2)}dPackedParamsBase"
    steps = "int[] stride, int[] padding, {}int[] dilation, int groups"
    overload = "" if rank == 1 else ".new"
    for relu in (False, True):
        name = f"conv{rank}d{'_relu' * relu}{overload}"
        _define(f"{name}(Tensor qx, {kept} packed_weight, {_TO}) -> Tensor", _by_hand(relu))
    _define(f"conv_transpose{rank}d(Tensor qx, {kept} packed_weight, {_TO}) -> Tensor", _by_hand(False))
    for name, transposed in ((f"conv{rank}d", False), (f"conv_transpose{rank}d", True)):
        given = steps.format("int[] output_padding, " if transposed else "")
        _define(f"{name}_prepack(Tensor weight, Tensor? bias, {given}) -> {kept}", _prepack(rank, transposed))
        _define(
            f"{name}_unpack({kept} packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
            _unpack,
            "CompositeExplicitAutograd",
        )


def _define_arithmetic() -> None:
    for name, function in (("add", arithmetic.add), ("mul", arithmetic.mul)):
        by_number = getattr(arithmetic, f"{name}_scalar")
        for relu in (False, True):
            end = "_relu" * relu
            _define(
                f"{name}{end}(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
                partial(function, relu=relu),
            )
            number = partial(by_number, relu=relu)
            _define(f"{name}{end}.Scalar(Tensor qa, Scalar b) -> Tensor qc", number)
            _define(f"{name}_scalar{end}(Tensor qa, Scalar b) -> Tensor qc", number)
            _define(f"{name}_scalar{end}.Tensor(Tensor qa, Tensor b) -> Tensor qc", number)
    joined = "(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor"
    _define(f"cat{joined}", arithmetic.cat)
    _define(f"cat_relu{joined}", partial(arithmetic.cat, relu=True))
    _define("matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", arithmetic.matmul)


def _define_activations() -> None:
    number = "Scalar alpha=1, Scalar scale=1, Scalar input_scale=1"
    for schema, function in (
        (f"hardswish(Tensor input, {_TO})", activations.hardswish),
        (f"elu(Tensor self, {_TO}, {number})", activations.elu),
        (f"celu(Tensor self, {_TO}, Scalar alpha=1)", activations.celu),
        (f"leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, {_TO})", activations.leaky_relu),
        (f"sigmoid(Tensor qx, {_TO})", activations.sigmoid),
        (f"softmax(Tensor qx, int dim, {_TO})", activations.softmax),
        (f"prelu(Tensor qx, Tensor weight, {_TO})", activations.prelu),
        ("relu6(Tensor qx, bool inplace=False)", activations.relu6),
        (f"dropout(Tensor self, {_TO}, Scalar p=0.5, bool training=False)", activations.dropout),
        (f"layer_norm(Tensor input, int[] normalized_shape, {_NORM}, float eps, {_TO})", activations.layer_norm),
        (f"group_norm(Tensor input, int num_groups, {_NORM}, float eps, {_TO})", activations.group_norm),
        (f"instance_norm(Tensor input, {_NORM}, float eps, {_TO})", activations.instance_norm),
    ):
        _define(f"{schema} -> Tensor", function)
    for name in ("batch_norm", "batch_norm1d", "batch_norm2d", "batch_norm3d"):
        for relu in (False, True):
            given = f"(Tensor qx, {_NORM}, Tensor mean, Tensor var, float eps, {_TO}) -> Tensor"
            _define(f"{name}{'_relu' * relu}{given}", partial(activations.batch_norm, relu=relu))


_define_linear()
for _rank in (1, 2, 3):
    _define_conv(_rank)
_define_arithmetic()
_define_activations()
