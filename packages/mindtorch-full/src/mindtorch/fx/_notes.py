"""What verbose code says of tensors: `f32[2, 3][3, 1]cpu`."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

_SHORT = {
    "bool": "b8",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz",
}


class Palette:
    """Colours for a terminal, or none."""

    def __init__(self, colored: bool) -> None:
        self._colored = colored

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colored else text

    def dim(self, text: str) -> str:
        """Return the text in a pale colour."""
        return self._paint("2", text)

    def red(self, text: str) -> str:
        """Return the text in red."""
        return self._paint("31", text)

    def blue(self, text: str) -> str:
        """Return the text in blue."""
        return self._paint("34", text)

    def dim_blue(self, text: str) -> str:
        """Return the text in pale blue."""
        return self._paint("2m\x1b[34", text)

    def dim_green(self, text: str) -> str:
        """Return the text in pale green."""
        return self._paint("2m\x1b[32", text)


PLAIN = Palette(False)


def abbreviated(dtype: torch.dtype) -> str:
    """Return a dtype's short name: `f32`."""
    name = str(dtype).removeprefix("torch.")
    return _SHORT.get(name, name)


def described(
    value: Any, palette: Palette = PLAIN, include_stride: bool = False, include_device: bool = False
) -> str | None:
    """Return dtype and shape, and what is asked for, of a tensor or of its metadata; None for anything else."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return None
    stride = value.stride() if callable(getattr(value, "stride", None)) else getattr(value, "stride", ())
    place = str(value.device) if include_device and hasattr(value, "device") else ""
    shape = f"[{', '.join(map(str, value.shape))}]"
    steps = f"[{', '.join(map(str, stride))}]" if include_stride else ""
    return (
        palette.red(abbreviated(value.dtype)) + palette.blue(shape) + palette.dim_blue(steps) + palette.dim_green(place)
    )


def tensor_note(node: Any, palette: Palette, **look: Any) -> str:
    """Return the annotation of a node's value in verbose code, empty where nothing is known."""
    value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
    if isinstance(value, torch.SymInt):
        return f': "Sym({value})"'
    text = described(value, palette, look.get("include_stride", False), look.get("include_device", False))
    return f': "{text}"' if text else ""
