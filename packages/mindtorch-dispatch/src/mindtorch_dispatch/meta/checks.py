"""Argument checks shared by meta functions, with torch's texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_pair

_C_TYPES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long int",
    "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
    "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int",
}  # fmt: skip


def c_type(dtype: Dtype) -> str:
    """Return the C++ name that some of torch's messages use for a dtype."""
    return _C_TYPES.get(dtype.name, dtype.name)


_LEGACY = frozenset("uint8 int8 int16 int32 int64 float16 float32 float64".split())
"""The dtypes that had a tensor type of their own in torch's first versions."""

_TYPE_PREFIXES = {"cpu": "CPU", "meta": "Meta"}


def type_text(spec: Spec) -> str:
    """Return what torch's texts call the type of a tensor: `torch.FloatTensor`, but `CPUBoolType` and `MetaFloatType`."""
    device = spec.device.type
    if device not in _TYPE_PREFIXES or (device == "cpu" and spec.dtype.name in _LEGACY):
        return spec.dtype.type_name
    return f"{_TYPE_PREFIXES[device]}{spec.dtype.scalar_name}Type"


def check(condition: bool, message: Callable[..., str], error: type[Exception] = RuntimeError) -> None:
    """Raise `error(message())` unless `condition` holds; the text is only built when it is needed."""
    if not condition:
        raise error(message())


def expect(condition: bool, text: str) -> None:
    """Raise RuntimeError in the words of a torch check that has no message of its own: its source `text`."""
    check(
        condition,
        lambda: (
            f"Expected {text} to be true, but got false.  (Could this error message be improved?"
            "  If so, please report an enhancement request to PyTorch.)"
        ),
    )


def wrap_dim(dim: int, ndim: int, *, scalar: bool = True) -> int:
    """Return `dim` in [0, ndim); negative dims count from the end. 0-d tensors accept -1 and 0 when `scalar`.

    Raises IndexError with torch's text.
    """
    if ndim == 0:
        if not scalar:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if -1 <= dim <= 0:
            return 0
        raise IndexError(f"Dimension out of range (expected to be in range of [-1, 0], but got {dim})")
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim + ndim if dim < 0 else dim


def wrap_dims(dims: int | Iterable[int] | None, ndim: int) -> tuple[int, ...]:
    """Return normalised dims; None or an empty list means all of them. A dim given twice raises torch's error."""
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, int):
        dims = (dims,)
    wrapped = tuple(wrap_dim(dim, ndim) for dim in dims)
    if not wrapped:
        return tuple(range(ndim))
    seen: set[int] = set()
    for dim in wrapped:
        if dim in seen:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
        seen.add(dim)
    return wrapped if ndim else ()


def reduced_shape(shape: Sequence[int], dims: Sequence[int], keepdim: bool) -> tuple[int, ...]:
    """Return the shape after reducing `dims` (normalised)."""
    if keepdim:
        return tuple(1 if index in dims else extent for index, extent in enumerate(shape))
    return tuple(extent for index, extent in enumerate(shape) if index not in dims)


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as torch's messages print it, `[2, 3]`."""
    return "[" + ", ".join(str(extent) for extent in shape) + "]"


def check_real(value: object) -> None:
    """Raise torch's error for a complex number where a double is read from a Scalar."""
    check(
        not isinstance(value, complex) or value.imag == 0,
        lambda: "value cannot be converted to type double without overflow",
    )


def is_number(value: object) -> bool:
    """True for a Python number (bool included)."""
    return isinstance(value, (int, float, complex))


def broadcastable(shape: Sequence[int], target: Sequence[int]) -> None:
    """Raise torch's `expand` error unless `shape` broadcasts to exactly `target`."""
    wide = broadcast_pair(tuple(target), tuple(shape))
    if wide != tuple(target):
        raise RuntimeError(
            f"output with shape {shape_text(target)} doesn't match the broadcast shape {shape_text(wide)}"
        )
