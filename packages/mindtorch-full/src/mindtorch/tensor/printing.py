"""`repr(tensor)` as torch prints it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_autograd.forward_mode import tangent_of
from mindtorch_dispatch.defaults import get_default_dtype
from mindtorch_storage import dtype as dtypes
from mindtorch_storage.layout import sparse_bsr, sparse_coo, sparse_csr, strided
from mindtorch_storage.quantized import PER_TENSOR, QuantizedSpec
from mindtorch_storage.tensor_base import is_bare


class PrinterOptions:
    """What `torch.set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = PrinterOptions()
_LEAST_E8M0 = np.float32(2.0**-127)


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed; `profile` is "default", "short" or "full".

    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([1 / 3])
    tensor([0.33])
    >>> torch.set_printoptions(profile="default")
    """
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
    def __init__(self, values: Any, of_powers: bool = False) -> None:
        self.floating = values.dtype.kind == "f"
        self.int_mode = True
        self.sci_mode = False
        self.max_width = 1
        flat = values.reshape(-1)
        if not self.floating:
            self.max_width = max([1, *(len(str(value)) for value in flat.tolist())])
            return
        # In the type of powers of two torch takes NaN for a number, and the least one for the zero that it lacks.
        counts = flat != _LEAST_E8M0 if of_powers else np.isfinite(flat) & (flat != 0)
        kept = flat[counts].astype(np.float64)
        if kept.size:  # else there is nothing to choose by, and options do not matter
            self._measure(kept)

    def _measure(self, values: Any) -> None:
        magnitude = np.abs(values)
        largest, smallest = float(magnitude.max()), float(magnitude.min())
        self.int_mode = bool(np.all(values == np.ceil(values)))
        self.sci_mode = largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4
        if PRINT_OPTS.sci_mode is not None:
            self.sci_mode = PRINT_OPTS.sci_mode
        self.max_width = max(1, *(len(self.format_plain(value)) for value in values.tolist()), 1)

    def format_plain(self, value: Any) -> str:
        """One element, not padded."""
        if not self.floating:
            return str(value)
        if self.sci_mode:
            return f"{value:.{PRINT_OPTS.precision}e}"
        if self.int_mode:
            text = f"{value:.0f}"
            return text if math.isinf(value) or math.isnan(value) else text + "."
        return f"{value:.{PRINT_OPTS.precision}f}"

    def format(self, value: Any) -> str:
        """One element, as wide as the widest."""
        return self.format_plain(value).rjust(self.max_width)


def _element(value: Any, real: _Formatter, imaginary: _Formatter | None) -> str:
    if imaginary is None:
        return real.format(value)
    left, right = real.format(value.real), imaginary.format(value.imag).lstrip()
    return f"{left}{right}j" if right[0] in "+-" else f"{left}+{right}j"


def _vector_text(array: Any, extent: int, indent: int, real: Any, imaginary: Any) -> str:
    """Return the text of a vector, of whose `extent` elements those that are not shown may be left out of `array`."""
    width = real.max_width + 2 + (imaginary.max_width + 1 if imaginary is not None else 0)
    per_line = max(1, math.floor((PRINT_OPTS.linewidth - indent) / width))
    edge = PRINT_OPTS.edgeitems
    if extent <= 2 * edge:
        texts = [_element(value, real, imaginary) for value in array.tolist()]
    elif not edge:
        texts = ["..."]
    else:
        texts = [_element(value, real, imaginary) for value in array[:edge].tolist()]
        texts += [" ..."]
        texts += [_element(value, real, imaginary) for value in array[-edge:].tolist()]
    lines = [texts[start : start + per_line] for start in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _array_text(array: Any, extents: Any, indent: int, real: Any, imaginary: Any) -> str:
    """As `_vector_text`, in any number of dimensions; an extent of -1 where all is shown."""
    if array.ndim == 0:
        return _element(array.item(), real, imaginary)
    if array.ndim == 1:
        return _vector_text(array, extents[0], indent, real, imaginary)
    edge = PRINT_OPTS.edgeitems
    texts = [_array_text(row, extents[1:], indent + 1, real, imaginary) for row in array]
    if extents[0] > 2 * edge:
        texts[edge:edge] = ["..."]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(texts) + "]"


def _corners(array: Any) -> Any:
    """Return what is shown of an array that is too large to be shown, and no copy of the rest is made."""
    edge = PRINT_OPTS.edgeitems
    if not edge:  # a vector is measured as a whole though it is not shown
        return array if array.ndim <= 1 else array[:0]
    if max(array.shape, default=0) <= 2 * edge:
        return array
    return array[np.ix_(*[
        np.r_[:edge, extent - edge : extent] if extent > 2 * edge else np.arange(extent) for extent in array.shape
    ])]  # fmt: skip


def _numbers(array: Any, dtype: Any) -> Any:
    """The elements in a type of numpy's own, floating where the tensor's is."""
    if array.dtype.names:  # complex32 is a pair for numpy
        numbers = array["real"].astype(np.complex64)
        numbers.imag = array["imag"]  # a sum would make other infinities and signs
        return numbers
    if dtype.is_floating_point and array.dtype.kind != "f":
        array = array.astype(np.float32)
    return array


def contents_text(tensor: Any, indent: int) -> str:
    """Return the numbers of a tensor, lines after the first indented."""
    array, dtype = tensor._readable_array(), tensor._sig.spec.dtype
    summarize = array.size > PRINT_OPTS.threshold
    extents = array.shape if summarize else [-1] * array.ndim
    shown = _numbers(_corners(array) if summarize else array, dtype)
    if shown.dtype.kind == "c":
        return _array_text(shown, extents, indent, _Formatter(shown.real), _Formatter(shown.imag))
    formatter = _Formatter(shown, of_powers=dtype is dtypes.float8_e8m0fnu)
    return _array_text(shown, extents, indent, formatter, None)


def _sparse_contents(tensor: Any, indent: int) -> str:
    """Return indices and values, each on lines of its own."""
    texts = []
    if tensor.layout is sparse_coo:
        parts = {"indices": tensor._indices(), "values": tensor._values()}
    elif tensor.layout in (sparse_csr, sparse_bsr):
        parts = {name: getattr(tensor, name)() for name in ("crow_indices", "col_indices", "values")}
    else:
        parts = {name: getattr(tensor, name)() for name in ("ccol_indices", "row_indices", "values")}
    for name, part in parts.items():
        part = part.detach()
        lead = f"{name}=tensor("
        unread = part.device.type == "meta" or is_bare(part)
        text = "..." if unread else "[]" if part.numel() == 0 else contents_text(part, indent + len(lead))
        texts.append(lead + text + (f", size={tuple(part.shape)}" if unread or part.numel() == 0 else "") + ")")
    return (",\n" + " " * indent).join(texts)


def _quantized_suffixes(tensor: Any, size: bool) -> list[str]:
    """Return what follows the numbers of a quantized tensor."""
    spec, scheme = tensor._sig.spec, tensor.qscheme()
    suffixes = [] if size else [f"size={tuple(spec.shape)}"]
    suffixes += [f"dtype={spec.dtype}", f"quantization_scheme={scheme}"]
    if scheme is PER_TENSOR:
        return [*suffixes, f"scale={tensor.q_scale()}", f"zero_point={tensor.q_zero_point()}"]
    parameters = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    return [
        *suffixes,
        f"scale={tensor_text(parameters[0])}",
        f"zero_point={tensor_text(parameters[1])}",
        f"axis={tensor.q_per_channel_axis()}",
    ]


def _node_name(tensor: Any) -> str | None:
    """Return the name of the node that made `tensor`; `Invalid` for a view that a write left without history."""
    try:
        made = tensor.grad_fn
    except RuntimeError:
        return "Invalid"
    return None if made is None else str(made.name()).rpartition("::")[2]


def tensor_text(tensor: Any, contents: str | None = None, size: bool = False) -> str:
    """Return what `repr(tensor)` prints, with the shape where `size` asks for it."""
    spec = tensor._sig.spec
    name = type(tensor).__name__
    prefix = "tensor(" if name in ("Tensor", "Parameter") else f"{name}("
    suffixes = []
    default = get_default_dtype()
    default_complex = dtypes.complex128 if default is dtypes.float64 else dtypes.complex64
    has_default = spec.dtype in (default, default_complex, dtypes.int64, dtypes.bool)
    if spec.device.type not in ("cpu",):
        suffixes.append(f"device='{spec.device}'")
    if size:
        suffixes.append(f"size={tuple(spec.shape)}")
    sparse = spec.layout is not strided
    if sparse:
        text = _sparse_contents(tensor, len(prefix))
        suffixes += [f"size={tuple(tensor.shape)}"] * (not size)
        suffixes += [f"nnz={tensor._nnz()}"] * (spec.device.type != "meta")
        if not has_default:
            suffixes.append(f"dtype={spec.dtype}")
        suffixes.append(f"layout={spec.layout}")
    elif type(spec) is QuantizedSpec:
        suffixes = [*suffixes, *_quantized_suffixes(tensor, size)]
        numbers = tensor.dequantize()
        text = "[]" if not spec.numel else contents if contents is not None else contents_text(numbers, len(prefix))
    elif spec.device.type == "meta" or (contents is None and is_bare(tensor)):
        suffixes.append(f"size={tuple(getattr(tensor, '_varying', None) or spec.shape)}")
        if spec.dtype is not default:
            suffixes.append(f"dtype={spec.dtype}")
        text = "..." if contents is None else contents
    elif spec.numel == 0:
        if spec.ndim != 1:
            suffixes.append(f"size={tuple(spec.shape)}")
        if spec.dtype is not default:
            suffixes.append(f"dtype={spec.dtype}")
        text = "[]" if contents is None else contents
    else:
        if not PRINT_OPTS.edgeitems:
            suffixes.append(f"size={tuple(spec.shape)}")
        if not has_default:
            suffixes.append(f"dtype={spec.dtype}")
        text = contents if contents is not None else contents_text(tensor, len(prefix))
    node = _node_name(tensor)
    if node is not None:
        suffixes.append(f"grad_fn=<{node}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    tangent = tangent_of(tensor)
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    result = with_suffixes(prefix + text, suffixes, len(prefix), force_newline=spec.layout is sparse_coo)
    return f"Parameter({result})" if name != "Parameter" and _is_parameter(tensor) else result


def _is_parameter(tensor: Any) -> bool:
    # By name, as printing a tensor need not import the module system.
    return getattr(tensor, "_is_param", False) or any(base.__name__ == "Parameter" for base in type(tensor).__mro__)


def with_suffixes(text: str, suffixes: list[str], indent: int, force_newline: bool = False) -> str:
    """Return a text with what follows its numbers, each on the line where it fits, and the closing bracket."""
    lines = [text]
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or last + len(suffix) + 2 > PRINT_OPTS.linewidth:
            lines.append(",\n" + " " * indent + suffix)
            last, force_newline = indent + len(suffix), False
        else:
            lines.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(lines) + ")"
