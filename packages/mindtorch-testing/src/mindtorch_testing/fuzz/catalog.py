"""The entry points: torch's native functions, its functions and methods, those of its namespaces, its modules."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Any

import torch

NAMESPACES = {
    "torch": ("torch", ""),
    "torch.special": ("special", "special_"),
    "torch.linalg": ("linalg", "linalg_"),
    "torch.fft": ("fft", "fft_"),
    "torch.nn.functional": ("F", ""),
}
"""Where functions are looked for: the short name, and how aten's names begin."""

EXCLUDED = re.compile(
    r"(^|[._])(set_|cuda|cudnn|mkldnn|mps|xpu|vulkan|miopen|quantize|quantized|q_|fbgemm|nested|fused|rowwise_prune|"
    r"thnn|compile|save|load|manual_seed|seed|initial_seed|fork|wait|import|is_warn|get_device|clear_|init_|jit|"
    r"typename|vmap|cond|while_loop|obj$|Tag|classes|storage|share_memory|pin_memory|is_pinned|register_|retain_grad|"
    r"backward$|_make_|_async|assert|print|test_|sym_|unsafe|from_file|from_buffer|frombuffer|rename|names|align_|refine|"
    r"dlpack|_cslt|_validate_|to_mkldnn|reinforce|module_load|_dim_|functional_assert|unify_type_list|_wrapped|"
    r"_use_|_has_|_is_all|_new_shared|_new_with|_resize_output|_lazy|_debug|_dirichlet|hooks|_linear_layout|"
    r"package|vitals|hub|compiled|autocast|amp|_C|_refs|_prims|get_rng|_sobol|_philox|_spsolve|_semi_structured|"
    r"_unsafe|_local_scalar|_flash|_efficient|_cudnn|int4|int8|qr_helper|_scaled_|_grouped|data_ptr|_cdata|"
    r"multi_head_attention_forward|handle_torch|has_torch|boolean_dispatch|assert_int|interface|callable_|overload|"
    r"scaled_mm|enable_grad|no_grad|inference_mode|Generator|Stream|Event|Future|_async_error|as_subclass|"
    r"lstm|gru|rnn_tanh|rnn_relu|coalesce|_sparse|sparse_|hspmm|sspaddmm|ccol|crow|row_indices|col_indices|"
    r"get_default|get_num|get_float32|get_deterministic|are_determin|is_deterministic|typing|_foreach_norm_out)"
)
"""Names that are not called: they change the process, need another device, or are layouts with a test of their own."""


@dataclass(frozen=True)
class Param:
    """One parameter: its kind is aten's type without `?`, `size` that of a list of fixed length."""

    name: str
    kind: str
    nullable: bool = False
    default: bool = False
    keyword: bool = False
    size: int = 0
    out: bool = False


@dataclass(frozen=True)
class Entry:
    """One entry point. `path` is what resolves it, `style` how it is called, `overloads` its parameters."""

    name: str
    path: str
    style: str
    overloads: tuple[tuple[Param, ...], ...]
    inputs: tuple[Param, ...] = field(default=())


def parameter(argument: Any) -> Param:
    """Translate an argument of a native schema."""
    kind = str(argument.real_type)
    nullable = kind.startswith("Optional[")
    kind = kind.removeprefix("Optional[").removesuffix("]") if nullable else kind
    if kind.startswith("List["):
        kind = kind[5:].removesuffix("]").replace("Optional[", "").removesuffix("]") + "[]"
    return Param(
        argument.name, kind, nullable, argument.has_default_value(), argument.kwarg_only, argument.N or 0,
        bool(argument.is_out),
    )  # fmt: skip


def native_schemas() -> dict[str, list[tuple[str, tuple[Param, ...]]]]:
    """Return overload names and parameters of every native function that has a kernel."""
    found: dict[str, list[tuple[str, tuple[Param, ...]]]] = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        full = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        if not torch._C._dispatch_has_kernel(full):
            continue
        params = tuple(parameter(argument) for argument in schema.arguments)
        if any(p.kind in ("Storage", "Stream", "Any") or "Dimname" in str(schema) for p in params):
            continue
        found[schema.name[6:]].append((schema.overload_name or "default", params))
    return found


def signature(function: Any, skip_self: bool = False) -> tuple[Param, ...] | None:
    """Translate a Python signature, kinds from annotations, defaults and names."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    params = []
    for p in parameters[1:] if skip_self else parameters:
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            if p.kind is p.VAR_POSITIONAL:
                params.append(Param(p.name, "Tensor", default=True))
            continue
        kind, nullable = python_kind(p)
        has_default = p.default is not p.empty
        params.append(Param(p.name, kind, nullable or p.default is None, has_default, p.kind is p.KEYWORD_ONLY))
    return tuple(params)


TENSORS = {
    "input", "self", "other", "weight", "bias", "target", "x", "x1", "x2", "tensor", "query", "key", "value", "mat1",
    "mat2", "input1", "input2", "input3", "anchor", "positive", "negative", "running_mean", "running_var", "boxes",
    "condition", "mask", "attn_mask", "log_probs", "targets", "a", "b", "A", "B", "LU_data", "LU_pivots", "grid",
    "theta", "offsets", "var", "logits", "data",
}  # fmt: skip


def python_kind(p: inspect.Parameter) -> tuple[str, bool]:
    """Guess the kind of a parameter, and whether it may be None."""
    text = str(p.annotation) if p.annotation is not p.empty else ""
    nullable = "None" in text or "Optional" in text
    for pattern, kind in (
        (r"list\[.*Tensor|List\[.*Tensor|tuple\[.*Tensor|Sequence\[.*Tensor", "Tensor[]"), (r"Tensor", "Tensor"),
        (r"BroadcastingList|_size|_ratio|_maybe|list\[int|List\[int|tuple\[int|Sequence\[int", "int[]"),
        (r"\bdtype", "ScalarType"), (r"\bbool", "bool"), (r"\bfloat", "float"), (r"\bint", "int"), (r"\bstr", "str"),
        (r"device|Device", "Device"), (r"Generator", "Generator"), (r"list\[float", "float[]"),
    ):  # fmt: skip
        if re.search(pattern, text):
            return kind, nullable
    for types, kind in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str"), ((tuple, list), "int[]")):
        if isinstance(p.default, types):
            return kind, nullable
    named = {"dtype": "ScalarType", "device": "Device", "generator": "Generator", "tensors": "Tensor[]"}
    if p.name in named:
        return named[p.name], nullable
    return ("Tensor" if p.name in TENSORS else "int"), nullable


def functions(natives: dict[str, list[tuple[str, tuple[Param, ...]]]]) -> Iterator[Entry]:
    """Give the functions of torch and its namespaces."""
    for path, (short, prefix) in NAMESPACES.items():
        namespace = eval(path, {"torch": torch})
        for name in sorted(vars(namespace)):
            value = getattr(namespace, name)
            if not callable(value) or isinstance(value, type) or name.startswith("__"):
                continue
            native = natives.get(prefix + name) or (natives.get(name) if inspect.isbuiltin(value) else None)
            if native:
                overloads = tuple(params for _, params in native)
            else:
                guessed = signature(value)
                if guessed is None or not guessed:
                    continue
                overloads = (guessed,)
            yield Entry(f"{short}.{name}", f"{path}.{name}", "function", overloads)


def methods(natives: dict[str, list[tuple[str, tuple[Param, ...]]]]) -> Iterator[Entry]:
    """Give the methods of tensors, operators included."""
    own = Param("self", "Tensor")
    special = {"__getitem__": ("index",), "__setitem__": ("index", "Tensor")}
    for name in sorted(dir(torch.Tensor)):
        value = inspect.getattr_static(torch.Tensor, name)
        if name in dir(object) and name not in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
            continue
        if isinstance(value, (property, type)) or not callable(getattr(torch.Tensor, name)):
            continue
        bare = name.strip("_") if name.startswith("__") else name
        native = [
            params
            for key in (name, bare)
            for _, params in natives.get(key, [])
            if params and params[0].kind == "Tensor" and not any(p.out for p in params)
        ]
        if name in special:
            params = tuple(Param(f"x{i}", kind) for i, kind in enumerate(special[name]))
            native = [(own, *params)]
        elif not native and re.fullmatch(
            "__i?r?(add|sub|mul|truediv|floordiv|mod|pow|matmul|and|or|xor|[lr]shift)__", name
        ):
            native = [(own, Param("other", "Tensor")), (own, Param("other", "number"))]
        elif not native:
            guessed = signature(getattr(torch.Tensor, name), skip_self=True)
            native = [(own, *guessed)] if guessed is not None else [(own,), (own, Param("arg", "int"))]
        yield Entry(f"Tensor.{name}", f"torch.Tensor.{name}", "method", tuple(native))


def overloads(natives: dict[str, list[tuple[str, tuple[Param, ...]]]]) -> Iterator[Entry]:
    """Give the overloads below torch.ops.aten."""
    for name, found in sorted(natives.items()):
        for overload, params in found:
            path = f"torch.ops.aten.{name}.{overload}"
            if iskeyword(overload):
                path = f"getattr(torch.ops.aten.{name}, {overload!r})"
            yield Entry(f"aten.{name}.{overload}", path, "overload", (params,))


TWO_INPUTS = re.compile("Loss$|Similarity|PairwiseDistance|Bilinear|TransformerDecoder")
INPUT_COUNT = {"TripletMarginLoss": 3, "MarginRankingLoss": 3, "CosineEmbeddingLoss": 3, "GaussianNLLLoss": 3}


def modules() -> Iterator[Entry]:
    """Give the modules of torch.nn: made from small numbers, then called with tensors."""
    for name in sorted(vars(torch.nn)):
        value = getattr(torch.nn, name)
        if not (isinstance(value, type) and issubclass(value, torch.nn.Module)) or re.search(
            "^Module|Sequential|List$|Dict$|Lazy|Transformer|^Container|DataParallel|RNNBase|CTC|Adaptive.*Softmax|RNN|GRU|LSTM",
            name,
        ):
            continue
        params = signature(value.__init__, skip_self=True)
        if params is None:
            continue
        count = INPUT_COUNT.get(name, 2 if TWO_INPUTS.search(name) else 1)
        inputs = tuple(Param(f"input{i}", "Tensor") for i in range(count))
        params = tuple(replace(p, keyword=p.keyword or p.default) for p in params if p.name != "device")
        yield Entry(f"nn.{name}", f"torch.nn.{name}", "module", (params,), inputs)


def catalog() -> list[Entry]:
    """Return every entry point by name."""
    natives = native_schemas()
    found: dict[str, Entry] = {}
    for entry in (*functions(natives), *methods(natives), *overloads(natives), *modules()):
        if not EXCLUDED.search(entry.name) and entry.overloads:
            found.setdefault(entry.name, entry)
    return list(found.values())
