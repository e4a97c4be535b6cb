"""`Spec`: one immutable, interned object per tensor geometry, and `Signature`: a spec as a plan key sees it.

Two tensors of equal dtype, device, shape and strides share one `Spec`, so "is this the same geometry" is an
identity test and everything that follows from the geometry is computed once. The intern table is bounded: when it
is full its older half is dropped, which costs later look-ups a new plan, never a wrong answer.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from typing import Any

from .device import device as Device
from .dtype import dtype as Dtype
from .forking import renew_after_fork
from .layout import layout as Layout
from .layout import strided
from .size import Size
from .strides import contiguous_strides, is_contiguous

INTERN_LIMIT = 65_536
"""How many geometries stay interned at most."""

_interned: dict[tuple[Any, ...], Spec] = {}
_kinds: dict[tuple[Any, ...], object] = {}
_intern_lock = threading.Lock()  # guards insertion and eviction; look-ups rely on the GIL's atomic dict.get
_signature_lock = threading.Lock()  # two threads must not make two signatures of one kind
renew_after_fork(lambda: globals().update(_intern_lock=threading.Lock(), _signature_lock=threading.Lock()))


class Signature:
    """A `Spec` with the flags a plan depends on: does the tensor require grad, is it an inference tensor.

    Interned by its spec, hashed by identity: it is the element that a tensor contributes to a plan key.
    """

    __slots__ = ("_kind", "inference", "requires_grad", "spec")

    _kind: object

    def __init__(self, spec: Spec, requires_grad: bool, inference: bool) -> None:
        self.spec = spec
        self.requires_grad = requires_grad
        self.inference = inference

    @property
    def kind(self) -> object:
        """What it has in common with the signatures of other sizes: one object for all of them.

        They have the dtype, device, number of dimensions and flags, and all or none of them one element, or no element.
        """
        try:
            return self._kind
        except AttributeError:
            spec = self.spec
            key = (
                type(spec),
                spec.dtype,
                spec.device,
                spec.ndim,
                min(spec.numel, 2),
                self.requires_grad,
                self.inference,
            )
            self._kind = found = _kinds.setdefault(key, object())
            return found

    def on(self, spec: Spec) -> Signature:
        """Return the signature of another geometry with these flags."""
        if self.inference:
            return spec.inference_tracked if self.requires_grad else spec.inference
        return spec.tracked if self.requires_grad else spec.plain

    def requiring(self, value: bool) -> Signature:
        """Return this signature with another answer to whether gradients are wanted."""
        spec = self.spec
        if self.inference:
            return spec.inference_tracked if value else spec.inference
        return spec.tracked if value else spec.plain

    def __repr__(self) -> str:
        flags = (", requires_grad" if self.requires_grad else "") + (", inference" if self.inference else "")
        return f"Signature({self.spec!r}{flags})"


class Spec:
    """A tensor geometry and what follows from it. Make one with `Spec.of`; never mutate it.

    `stride` is in elements, `np_strides` in bytes. `plain`, `tracked`, `inference` and `inference_tracked` are its
    signatures.
    """

    __slots__ = (
        "_inference",
        "_inference_tracked",
        "device",
        "dtype",
        "is_contiguous",
        "itemsize",
        "nbytes",
        "ndim",
        "np_dtype",
        "np_strides",
        "numel",
        "plain",
        "shape",
        "stride",
        "tracked",
    )

    dtype: Dtype
    device: Device
    shape: Size
    stride: tuple[int, ...]
    _inference: Signature
    _inference_tracked: Signature

    def __init__(self, dtype: Dtype, device: Device, shape: tuple[int, ...], stride: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.device = device
        self.shape = Size(shape)
        self.stride = stride
        self.ndim = len(shape)
        numel = 1
        for extent in shape:
            numel *= extent
        self.numel = numel
        self.itemsize = dtype.itemsize
        self.nbytes = numel * dtype.itemsize
        self.np_dtype = dtype.np
        self.np_strides = tuple(step * dtype.itemsize for step in stride)
        self.is_contiguous = is_contiguous(shape, stride)
        self.plain = Signature(self, False, False)
        self.tracked = Signature(self, True, False)

    @property
    def inference(self) -> Signature:
        """Of inference tensors; made when it is first asked for, as most programs have none."""
        try:
            return self._inference
        except AttributeError:
            return self._signature("_inference", False)

    @property
    def inference_tracked(self) -> Signature:
        """Of inference tensors that require grad."""
        try:
            return self._inference_tracked
        except AttributeError:
            return self._signature("_inference_tracked", True)

    def _signature(self, name: str, requires_grad: bool) -> Signature:
        with _signature_lock:
            if not hasattr(self, name):
                setattr(self, name, Signature(self, requires_grad, True))
            made: Signature = getattr(self, name)
        return made

    @staticmethod
    def of(dtype: Dtype, device: Device, shape: Sequence[int], stride: tuple[int, ...] | None = None) -> Spec:
        """Return the interned spec of this geometry; `stride` defaults to the contiguous one."""
        key = (dtype, device, tuple(shape), stride)
        spec = _interned.get(key)
        if spec is not None:
            return spec
        plain_shape = tuple(int(extent) for extent in shape)
        plain_stride = contiguous_strides(plain_shape) if stride is None else tuple(int(step) for step in stride)
        return _intern(key, dtype, device, plain_shape, plain_stride)

    def with_(
        self,
        *,
        dtype: Dtype | None = None,
        device: Device | None = None,
        shape: tuple[int, ...] | None = None,
        stride: tuple[int, ...] | None = None,
    ) -> Spec:
        """Return the spec that differs in what is given; a new shape without strides is contiguous."""
        if stride is None and shape is None:
            stride = self.stride
        return Spec.of(dtype or self.dtype, device or self.device, self.shape if shape is None else shape, stride)

    def contiguous(self) -> Spec:
        """Return the spec of the same shape with contiguous strides, those of extents 0 and 1 included."""
        return Spec.of(self.dtype, self.device, self.shape)

    @property
    def layout(self) -> Layout:
        """`torch.strided`: the only layout a spec describes."""
        return strided

    def same_geometry(self, other: Spec) -> bool:
        """True when both describe the same dtype, device, shape and strides (holds across evictions)."""
        return self is other or (
            self.dtype is other.dtype
            and self.device == other.device
            and self.shape == other.shape
            and self.stride == other.stride
        )

    def __repr__(self) -> str:
        return f"Spec({self.dtype}, {self.device}, {tuple(self.shape)}, {self.stride})"


def _intern(
    key: tuple[Any, ...], dtype: Dtype, device: Device, shape: tuple[int, ...], stride: tuple[int, ...]
) -> Spec:
    if device.type == "cpu" and device.index is not None:
        device = Device("cpu")  # processors are one device: a tensor made on `cpu:1` is on `cpu`
    full_key = (dtype, device, shape, stride)
    with _intern_lock:
        spec = _interned.get(full_key)
        if spec is None:
            if len(_interned) >= INTERN_LIMIT:
                for old in list(islice(_interned, INTERN_LIMIT // 2)):
                    del _interned[old]
            spec = _interned[full_key] = Spec(dtype, device, shape, stride)
        if key != full_key:
            _interned[key] = spec
    return spec
