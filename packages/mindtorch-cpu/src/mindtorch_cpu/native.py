"""The native module `mindtorch_cpu._native`, where it is built: the executor's twin and kernels for dense operands.

`MINDTORCH_NATIVE=0` ignores it, `1` demands it, unset takes it where it is there. It changes speed and nothing else.
`MINDTORCH_INSTRUCTIONS` (base, v2, v3, v4) keeps its loops from wider instructions than it names; unset, they are the
widest that the processor has (`module.INSTRUCTIONS`).
"""

from __future__ import annotations

import importlib
import os
import warnings
from contextvars import ContextVar
from typing import Any

import numpy as np

from mindtorch_dispatch import call, plan, table
from mindtorch_dispatch.execute import errstate, executor
from mindtorch_dispatch.interface.autograd import hooks
from mindtorch_dispatch.interface.native import twin
from mindtorch_dispatch.meta.rule import Start
from mindtorch_dispatch.pipeline import Pipeline, record
from mindtorch_dispatch.plan.overlap import OverlapCheck
from mindtorch_dispatch.state import DEFAULT_MODE, Mode, state
from mindtorch_storage import deferred
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bfloat16
from mindtorch_storage.spec import Signature, Spec
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.storage.memory import HostAllocation
from mindtorch_storage.tensor_base import AutogradMeta, TensorBase, ViewInfo

from . import host_memory, lists, reduced
from .generator import default_generator
from .random.capability import capability
from .steps import steps
from .threads import threads

INTERFACE = 13
"""What this package and the module must agree on; raise it, here and in native/module.cpp, with what either expects."""

SETS = ("base", "v2", "v3", "v4")
"""Instruction sets that loops are built for: the least of a processor's family, then x86-64's levels."""

SAME_NAME = """
    logical_and logical_or logical_xor logical_not bitwise_not isnan isinf isfinite maximum minimum
    neg abs sqrt rsqrt reciprocal relu floor ceil round trunc
    exp expm1 log log2 log10 log1p sin cos tanh erf sigmoid
    silu gelu leaky_relu elu softplus hardswish hardsigmoid hardtanh mish threshold softshrink hardshrink
    log_sigmoid_forward silu_backward gelu_backward leaky_relu_backward elu_backward softplus_backward
    hardswish_backward hardsigmoid_backward hardtanh_backward mish_backward threshold_backward softshrink_backward
    hardshrink_backward log_sigmoid_backward tanh_backward sigmoid_backward glu glu_backward
    argmax argmin logsumexp cumsum cumprod cummax cummin nan_to_num
    mse_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits nll_loss_forward
    mse_loss_backward smooth_l1_loss_backward huber_loss_backward binary_cross_entropy_backward nll_loss_backward
"""
"""Rows whose native kernel has their name."""

ROWS = {
    **{name: (name,) for name in SAME_NAME.split()},
    **{name: (f"{name}.Tensor", f"{name}.Scalar") for name in ("add", "mul", "div", "sub", "rsub")},
    **{name: (f"{name}.Tensor", f"{name}.Scalar") for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{
        f"bitwise_{name}": tuple(f"bitwise_{name}.{form}" for form in ("Tensor", "Scalar", "Scalar_Tensor"))
        for name in ("and", "or", "xor")
    },
    **{name: (name, f"{name}.Tensor") for name in ("clamp", "clamp_min", "clamp_max")},
    "masked_fill": ("masked_fill.Scalar", "masked_fill.Tensor"),
    **{
        f"bitwise_{name}_shift": tuple(
            f"bitwise_{name}_shift.{form}" for form in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")
        )
        for name in ("left", "right")
    },
    "remainder": ("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor"),
    "fmod": ("fmod.Tensor", "fmod.Scalar"),
    "sign": ("sign", "sgn"),
    "where": ("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar"),
    "addcmul": ("addcmul",),
    "addcdiv": ("addcdiv",),
    "lerp": ("lerp.Scalar", "lerp.Tensor"),
    "pow": ("pow.Tensor_Scalar", "pow.Tensor_Tensor"),
    "sum": ("sum", "sum.dim_IntList"),
    "mean": ("mean", "mean.dim"),
    "prod": ("prod", "prod.dim_int"),
    "amax": ("amax", "max"),
    "amin": ("amin", "min"),
    "nansum": ("nansum",),
    **{name: (name, f"{name}.dims", f"{name}.dim") for name in ("any", "all")},
    **{name: (f"{name}.correction",) for name in ("var", "std", "var_mean", "std_mean")},
    **{f"{name}_dim": (f"{name}.dim",) for name in ("max", "min")},
    "vector_norm": ("linalg_vector_norm",),
    "softmax": ("_softmax",),
    "log_softmax": ("_log_softmax",),
    "softmax_backward": ("_softmax_backward_data",),
    "log_softmax_backward": ("_log_softmax_backward_data",),
    **{
        f"{name}{direction}": (f"native_{name}{direction}",)
        for name in ("layer_norm", "batch_norm", "group_norm")
        for direction in ("", "_backward")
    },
    "matrix_product": ("mm", "bmm", "mv", "dot"),
    "scaled_product": ("addmm", "baddbmm", "addmv"),
    "attention": ("_scaled_dot_product_flash_attention_for_cpu",),
    "attention_backward": ("_scaled_dot_product_flash_attention_for_cpu_backward",),
    "convolution": ("convolution",),
    "convolution_backward": ("convolution_backward",),
    "largest_of_windows": ("max_pool2d_with_indices", "max_pool3d_with_indices"),
    "largest_of_cells": ("adaptive_max_pool2d", "adaptive_max_pool3d"),
    **{
        f"to_indices_of_{kind}s": tuple(
            f"{name}{dims}d{form}_backward"
            for name, form in (("max_pool", "_with_indices"), ("adaptive_max_pool", ""), ("fractional_max_pool", ""))
        )
        for dims, kind in ((2, "plane"), (3, "volume"))
    },
    "uniform_": ("uniform_",),
    "normal_": ("normal_",),
    "normal_sized": ("normal.float_float",),
    "rand": ("rand", "rand_like"),
    "rand_of_generator": ("rand.generator", "rand_like.generator"),
    "randn": ("randn", "randn_like"),
    "randn_of_generator": ("randn.generator", "randn_like.generator"),
    "bernoulli_": ("bernoulli_.float", "bernoulli.p"),
    "bernoulli_tensor": ("bernoulli_.Tensor", "bernoulli.Tensor"),
    "bernoulli": ("bernoulli",),
    "randint": ("randint", "randint.low"),
    "randint_of_generator": ("randint.generator",),
    "randint_low_of_generator": ("randint.low_generator",),
    "randint_like": ("randint_like", "randint_like.low_dtype"),
    "random_to": ("random_.to", "randint_like.generator"),
    "random_": ("random_",),
    "randperm": ("randperm",),
    "randperm_of_generator": ("randperm.generator",),
    "exponential_": ("exponential_",),
    "multinomial": ("multinomial",),
    "clone": ("clone", "_to_copy"),
    "copy_": ("copy_",),
    "zeros": ("zeros", "zeros_like", "new_zeros", "zero_"),
    "ones": ("ones", "ones_like", "new_ones"),
    "full": ("full", "full_like"),
    "new_full": ("new_full",),
    "scalar_tensor": ("scalar_tensor",),
    "fill_": ("fill_.Scalar", "fill_.Tensor"),
    "cat": ("cat",),
    "repeat": ("repeat",),
    "flip": ("flip",),
    "roll": ("roll",),
    "tril": ("tril",),
    "triu": ("triu",),
    "select_backward": ("select_backward",),
    "slice_backward": ("slice_backward",),
    "constant_pad_nd": ("constant_pad_nd",),
    "index_select": ("index_select",),
    "index": ("_index_integer",),
    "index_masked": ("_index_masked",),
    "index_put": ("index_put",),
    "index_add": ("index_add",),
    "take": ("take",),
    "gather": ("gather",),
    "scatter": ("scatter.src", "scatter.value"),
    "scatter_add": ("scatter_add",),
    "scatter_reduce": ("scatter_reduce.two",),
    "embedding": ("embedding",),
    "embedding_backward": ("embedding_dense_backward",),
    "embedding_bag": ("_embedding_bag", "_embedding_bag_forward_only"),
    "arange": ("arange", "arange.start", "arange.start_step"),
    "nonzero": ("nonzero",),
    "masked_select": ("masked_select",),
    "topk": ("topk",),
    "sort": ("sort", "sort.stable"),
    "kthvalue": ("kthvalue",),
    **{name: (name,) for name in ("median", "nanmedian")},
    **{f"{name}_dim": (f"{name}.dim",) for name in ("median", "nanmedian")},
}
"""Native kernels and the rows whose numpy kernels they stand before."""

STEPS = ("gather_taps", "spread_taps", "tap_products", "grid_taps", "matrix_product")
"""Native kernels that stand before what several families' numpy kernels do."""


RUNS = (
    executor.run_kernel,
    executor.run_kernel_outputs,
    executor.run_inplace,
    executor.run_view,
    executor.run_views,
    executor.run_composite,
    record.record_kernel,
    record.record_inplace,
    record.record_view,
    record.fill_kernel,
    record.fill_inplace,
    record.fill_view,
)
"""Ways to run a plan, or what a pipeline has put down, that have a twin."""

CLASSES = (
    AutogradMeta,
    HostAllocation,
    Mode,
    OverlapCheck,
    Pipeline,
    plan.Plan,
    Signature,
    Spec,
    Start,
    table.Packet,
    TensorBase,
    UntypedStorage,
    ViewInfo,
)
"""Classes whose slots the twins read."""


def load() -> Any:
    """Return the native module, None where it is absent or not wanted.

    Raises ValueError for a value that one of the two variables cannot have, ImportError where it is 1 and no module loads.
    """
    wanted = os.environ.get("MINDTORCH_NATIVE", "")
    if wanted not in ("", "0", "1"):
        raise ValueError(f"MINDTORCH_NATIVE is 0, 1 or unset, not {wanted!r}")
    instructions = os.environ.get("MINDTORCH_INSTRUCTIONS", "")
    if instructions not in ("", *SETS):
        raise ValueError(f"MINDTORCH_INSTRUCTIONS is one of {', '.join(SETS)} or unset, not {instructions!r}")
    if wanted == "0":
        return None
    try:
        module = importlib.import_module("mindtorch_cpu._native")
    except ModuleNotFoundError:
        if wanted == "1":
            raise ImportError("MINDTORCH_NATIVE=1, but mindtorch-cpu was installed without its native module") from None
        return None
    except ImportError as error:
        if wanted == "1":
            raise
        # It is there, but a library of the system's that it needs is not: the wheels bring no copy of OpenMP.
        warnings.warn(
            f"mindtorch-cpu's native module cannot be loaded ({error}); numpy kernels are used. "
            "Where libgomp.so.1 is missing: apt-get install libgomp1, or dnf install libgomp",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    if module.INTERFACE == INTERFACE and all(module.has_kernel(name) for name in (*ROWS, *STEPS)):
        return module
    text = "the native module of mindtorch-cpu was built from another version of its source: build it anew"
    if wanted == "1":
        raise ImportError(text)
    warnings.warn(f"{text}; numpy kernels are used", RuntimeWarning, stacklevel=2)
    return None


def install(module: Any) -> None:
    """Put the module's executor into the call path, and its kernels before numpy's."""
    variable = getattr(errstate.enter, "__self__", None)
    module.install(
        {
            "state": state,
            "default_mode": DEFAULT_MODE,
            "deferred": deferred.thread,
            "library": record.LIBRARY,
            "plain_types": plan.plain_types,
            "fingerprint": call.fingerprint,
            "Unplannable": call.Unplannable,
            "run_again": call.run_again,
            "relate": executor.relate,
            **{run.__name__: run for run in RUNS},
            **{kind.__name__: kind for kind in CLASSES},
            "empty": np.empty,
            "enter": errstate.enter,
            "leave": errstate.leave,
            "silent": errstate.SILENT,
            "tensor_class": twin.tensor_class,
            "bfloat16": bfloat16.np,
            "dtype": type(bfloat16),
            "cpu": Device("cpu"),
            "error_state": variable if isinstance(variable, ContextVar) else None,
            **hooks.parts,
        }
    )
    module.draw_from(default_generator, capability.fused, capability.vector_normal)
    for name, rows in ROWS.items():
        for row in rows:
            entry = table.kernels["cpu"][row]
            halves = name in reduced.NAMES
            fallback = reduced.widening(module.kernel(name, entry.fn), entry.fn) if halves else entry.fn
            made = module.kernel(name, fallback)
            table.kernels["cpu"][row] = table.Kernel(made, entry.upcast, entry.aliases_ok, halves)
    steps.update({name: module.kernel(name, steps[name]) for name in STEPS})
    lists.install(module)
    host_memory.install(module)
    threads.use_pool(module)
    if "install_loop" in hooks.parts:
        hooks.parts["install_loop"](module.propagate)
    twin.caller, twin.shortcut, twin.guard, twin.fill = module.caller, module.shortcut, module.guarded, module.fill
    twin.view_of, twin.subscript_by = module.view_of, module.subscript_by
    twin.types = (*twin.types, module.Function, module.Method, module.Shortcut, module.Guarded)


module = load()
"""The native module in use, None where Python and numpy do everything."""
