"""`repr(tensor)` as torch prints it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_storage import dtype as dtypes
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.tensor_base import is_bare


class PrinterOptions:
    """What `torch.set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = PrinterOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed; `profile` is "default", "short" or "full"."""
    profiles = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}
    if profile in profiles:  # torch too passes over other names
        PRINT_OPTS.precision, PRINT_OPTS.threshold, PRINT_OPTS.edgeitems, PRINT_OPTS.linewidth = profiles[profile]
    for name, value in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if value is not None:
            setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


class _Formatter:
    def __init__(self, values: Any) -> None:
        self.floating = values.dtype.kind == "f"
        self.int_mode = True
        self.sci_mode = False
        self.max_width = 1
        flat = values.reshape(-1)
        if not self.floating:
            self.max_width = max([1, *(len(str(value)) for value in flat.tolist())])
            return
        kept = flat[np.isfinite(flat) & (flat != 0)].astype(np.float64)
        if kept.size:
            self._measure(np.abs(kept), kept)
        if PRINT_OPTS.sci_mode is not None:
            self.sci_mode = PRINT_OPTS.sci_mode

    def _measure(self, magnitude: Any, signed: Any) -> None:
        largest, smallest = float(magnitude.max()), float(magnitude.min())
        precision = PRINT_OPTS.precision
        self.int_mode = bool(np.all(signed == np.ceil(signed)))
        if self.int_mode:
            if largest / smallest > 1000.0 or largest > 1.0e8:
                self.sci_mode = True
                texts = [f"{value:.{precision}e}" for value in signed]
            else:
                texts = [f"{value:.0f}." for value in signed]
        elif largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4:
            self.sci_mode = True
            texts = [f"{value:.{precision}e}" for value in signed]
        else:
            texts = [f"{value:.{precision}f}" for value in signed]
        self.max_width = max(1, *(len(text) for text in texts)) if len(texts) > 1 else max(1, len(texts[0]))

    def format_plain(self, value: Any) -> str:
        if not self.floating:
            return str(value)
        if self.sci_mode:
            return f"{value:.{PRINT_OPTS.precision}e}"
        if self.int_mode:
            text = f"{value:.0f}"
            return text if math.isinf(value) or math.isnan(value) else text + "."
        return f"{value:.{PRINT_OPTS.precision}f}"

    def format(self, value: Any) -> str:
        return self.format_plain(value).rjust(self.max_width)


def _element(value: Any, real: _Formatter, imaginary: _Formatter | None) -> str:
    if imaginary is None:
        return real.format(value)
    left, right = real.format(value.real), imaginary.format(value.imag).lstrip()
    return f"{left}{right}j" if right[0] in "+-" else f"{left}+{right}j"


def _vector_text(array: Any, indent: int, real: Any, imaginary: Any, summarize: bool) -> str:
    width = real.max_width + 2 + (imaginary.max_width + 1 if imaginary is not None else 0)
    per_line = max(1, math.floor((PRINT_OPTS.linewidth - indent) / width))
    edge = PRINT_OPTS.edgeitems
    if summarize and not edge:
        texts = ["..."]
    elif summarize and len(array) > 2 * edge:
        texts = [_element(value, real, imaginary) for value in array[:edge].tolist()]
        texts += [" ..."]
        texts += [_element(value, real, imaginary) for value in array[-edge:].tolist()]
    else:
        texts = [_element(value, real, imaginary) for value in array.tolist()]
    lines = [texts[start : start + per_line] for start in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _array_text(array: Any, indent: int, real: Any, imaginary: Any, summarize: bool) -> str:
    if array.ndim == 0:
        return _element(array.item(), real, imaginary)
    if array.ndim == 1:
        return _vector_text(array, indent, real, imaginary, summarize)
    edge = PRINT_OPTS.edgeitems
    rows = list(array)
    if summarize and len(rows) > 2 * edge:
        texts = [_array_text(row, indent + 1, real, imaginary, summarize) for row in rows[:edge]]
        texts += ["..."]
        texts += [_array_text(row, indent + 1, real, imaginary, summarize) for row in rows[-edge:]]
    else:
        texts = [_array_text(row, indent + 1, real, imaginary, summarize) for row in rows]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(texts) + "]"


def _summarized(array: Any) -> Any:
    edge = PRINT_OPTS.edgeitems
    for axis in range(array.ndim):
        if array.shape[axis] > 2 * edge:
            keep = [*range(edge), *range(array.shape[axis] - edge, array.shape[axis])]
            array = np.take(array, keep, axis=axis)
    return array


def _contents(tensor: Any, indent: int) -> str:
    array = tensor._host_array()
    if array.dtype.names:  # complex32 is a pair for numpy
        array = array["real"].astype(np.float32) + 1j * array["imag"].astype(np.float32)
    elif array.dtype.kind not in "fciub":
        array = array.astype(np.float32)
    summarize = array.size > PRINT_OPTS.threshold
    shown = _summarized(array) if summarize else array
    if array.dtype.kind == "c":
        return _array_text(array, indent, _Formatter(shown.real), _Formatter(shown.imag), summarize)
    return _array_text(array, indent, _Formatter(shown), None, summarize)


def _sparse_contents(tensor: Any, indent: int) -> str:
    """Return indices, values and size, each on lines of its own."""
    texts = []
    for name, part in (("indices", tensor._indices()), ("values", tensor._values())):
        part = part.detach()
        lead = f"{name}=tensor("
        text = "[]" if part.numel() == 0 else _contents(part, indent + len(lead))
        texts.append(lead + text + (f", size={tuple(part.shape)}" if part.numel() == 0 else "") + ")")
    texts.append(f"size={tuple(tensor.shape)}")
    return (",\n" + " " * indent).join(texts)


def tensor_text(tensor: Any, contents: str | None = None, size: bool = False) -> str:
    """Return what `repr(tensor)` prints, with the shape where `size` asks for it."""
    spec = tensor._sig.spec
    name = type(tensor).__name__
    prefix = "tensor(" if name in ("Tensor", "Parameter") else f"{name}("
    suffixes = []
    has_default = spec.dtype in (dtypes.int64, dtypes.bool) or str(spec.dtype) == str(_default_dtype())
    if spec.device.type not in ("cpu",):
        suffixes.append(f"device='{spec.device}'")
    if size:
        suffixes.append(f"size={tuple(spec.shape)}")
    if spec.layout is sparse_coo:
        text = _sparse_contents(tensor, len(prefix))
        suffixes.append(f"nnz={tensor._nnz()}")
        if not has_default:
            suffixes.append(f"dtype={spec.dtype}")
        suffixes.append("layout=torch.sparse_coo")
    elif spec.device.type == "meta" or is_bare(tensor):
        suffixes.append(f"size={tuple(spec.shape)}")
        if str(spec.dtype) != str(_default_dtype()):
            suffixes.append(f"dtype={spec.dtype}")
        text = "..."
    elif spec.numel == 0:
        if spec.ndim != 1:
            suffixes.append(f"size={tuple(spec.shape)}")
        if not (has_default and spec.dtype is not dtypes.int64):
            suffixes.append(f"dtype={spec.dtype}")
        text = "[]"
    else:
        if not (has_default or _is_default_complex(spec.dtype)):
            suffixes.append(f"dtype={spec.dtype}")
        text = contents if contents is not None else _contents(tensor, len(prefix))
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    result = _with_suffixes(prefix + text, suffixes, len(prefix))
    return f"Parameter({result})" if getattr(tensor, "_is_param", False) and name != "Parameter" else result


def _is_default_complex(dtype: Any) -> bool:
    return dtype.is_complex and dtype is _default_dtype().to_complex()


_defaults_source: list[Any] = [lambda: dtypes.float32]


def _default_dtype() -> Any:
    return _defaults_source[0]()


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    lines = [text]
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > PRINT_OPTS.linewidth:
            lines.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
        else:
            lines.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(lines) + ")"
