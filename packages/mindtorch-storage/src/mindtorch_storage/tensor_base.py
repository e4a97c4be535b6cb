"""`TensorBase`: the one tensor object. A plain Python class with fixed slots, so native code can read it too.

Slots:
    _sig        the `Signature`: geometry, requires_grad, inference
    _array      numpy view of the elements on a CPU tensor, None on devices whose bytes the host cannot see
    _storage    the storage, or None while nobody asked for it. None implies: `_array` is C-contiguous, owns its
                memory and starts at element 0; `materialized_storage` makes the storage from it
    _offset     elements between the storage's start and the tensor's first element
    _counter    `[version]`, one list shared by a base and all its views; after it come weak references to the views
                whose requires_grad must follow when a write makes their base require grad
    _grad_fn    node that made this tensor, None on leaves
    _output_nr  which output of that node
    _view       None, or `ViewInfo` on a view that autograd must be able to replay
    _meta       None, or `AutogradMeta` with what few tensors have: grad, hooks, accumulator
    _pipe       unset, or None, or what this tensor waits for: see `deferred`

`_array` and `_storage` are unset while a tensor waits for the recorded call that makes it, `_array` alone while its storage
shares bytes with a lazy clone (`storage.copy_on_write`). `_host_array()` and
`_materialized_storage()` wait; code that reads the slots itself says in a comment why they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from .deferred import thread, wait_for
from .device import device as Device
from .dtype import dtype as Dtype
from .size import Size
from .spec import Signature, Spec
from .storage import UntypedStorage
from .storage.copy_on_write import CopyOnWrite


class ViewInfo:
    """Where a view comes from: its root base, the base's version when it was made, and how it was made.

    `creation` is one of "default", "no_grad", "inference", "multi_output", "custom"; it decides which in-place writes
    are refused. `attr_version` is the shared version the view's `grad_fn` was computed for. `leaf` is True when the view
    itself, not its base, was told to require grad, so that it gets a gradient of its own.
    """

    __slots__ = ("attr_version", "base", "creation", "leaf")

    def __init__(self, base: TensorBase, attr_version: int, creation: str) -> None:
        self.base = base
        self.attr_version = attr_version
        self.creation = creation
        self.leaf = False


def no_accumulator() -> None:
    """The `accumulator` of a tensor that no recorded op took as a leaf."""


class AutogradMeta:
    """Rarely needed autograd state of one tensor.

    `accumulator` is called for the leaf's AccumulateGrad node, to which the tensor holds no strong reference;
    `tangents` are the tangents of forward-mode differentiation, by level; `number` is what `_cdata` gave.
    """

    __slots__ = ("accumulator", "grad", "hooks", "name", "number", "post_accumulate_hooks", "retains_grad", "tangents")

    def __init__(self) -> None:
        self.grad: TensorBase | None = None
        self.hooks: Any = None
        self.post_accumulate_hooks: Any = None
        self.retains_grad: bool = False
        self.accumulator: Any = no_accumulator
        self.tangents: dict[int, TensorBase] | None = None
        self.name: str | None = None
        self.number: int | None = None


class TensorBase:
    """Storage, geometry and autograd slots of a tensor; operators are bound to subclasses by the op table."""

    __slots__ = (
        "__weakref__",
        "_array",
        "_counter",
        "_grad_fn",
        "_meta",
        "_offset",
        "_output_nr",
        "_pipe",
        "_sig",
        "_storage",
        "_view",
    )

    _sig: Signature
    _array: Any
    _storage: UntypedStorage | None
    _offset: int
    _counter: list[Any]
    _pipe: Any
    _grad_fn: Any
    _output_nr: int
    _view: Any
    _meta: Any
    _wraps = False
    """True for classes whose tensors hold another tensor where others have their storage."""

    @property
    def _pending(self) -> bool:
        """True while a recorded call that makes or changes this tensor has not run."""
        try:
            return self._pipe is not None
        except AttributeError:  # made by a call that ran at once
            return False

    def _host_array(self) -> Any:
        """Return the elements as a numpy array after running what this thread has recorded: themselves on the CPU, a
        copy of those on a device, None where there are none."""
        pipe = thread.pipe  # as `settle` does
        if pipe is not None:
            pipe.flush()
        try:
            array = self._array
        except AttributeError:  # another thread's, or its call failed
            wait_for(self)
            array = self._array
        if array is None:
            check_bytes((self,))
            return None
        return array if array.__class__ is np.ndarray else array.to_host()

    def _readable_array(self) -> Any:
        """Return what `_host_array` does, for who writes nothing: bytes that lazy clones share stay shared."""
        if has_math_bits(self):
            return self.clone()._host_array()  # type: ignore[attr-defined]  # of the class above it
        return shared_array(self) if shares_bytes(self) else self._host_array()

    @property
    def _spec(self) -> Spec:
        return self._sig.spec

    @property
    def shape(self) -> Size:
        """The tensor's extents, as `torch.Size`."""
        return self._sig.spec.shape

    @property
    def dtype(self) -> Dtype:
        """The element type."""
        return self._sig.spec.dtype

    @property
    def device(self) -> Device:
        """Where the elements live."""
        return self._sig.spec.device

    def _materialized_storage(self) -> UntypedStorage:
        """Return the storage, making it from the array when nobody asked for it before.

        Its contents may be out of date while calls are recorded: who shows them calls `settle()`.
        """
        try:
            storage = self._storage
        except AttributeError:
            wait_for(self)
            storage = self._storage
        if storage is None:
            array = self._array
            if array is None:
                storage = UntypedStorage(self._sig.spec.nbytes, device=self._sig.spec.device)
            elif array.__class__ is not np.ndarray:
                storage = array.storage
            elif array.flags.c_contiguous:
                storage = UntypedStorage._from_buffer(array.reshape(-1).view(np.uint8))
            else:  # dense in another order, its flat buffer is itself with the longest steps first
                axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
                flat: Any = array.transpose(axes)
                if not flat.flags.c_contiguous:  # the allocator laid it over one buffer, with gaps
                    flat = array.base
                storage = UntypedStorage._from_buffer(flat.reshape(-1).view(np.uint8))
            self._storage = storage
        return storage


T = TypeVar("T", bound=TensorBase)


def make_tensor(
    cls: type[T], sig: Signature, array: Any, storage: UntypedStorage | None, offset: int, counter: list[Any]
) -> T:
    """Return a `cls` without autograd history over the given memory; see the slots above for the invariants."""
    tensor = object.__new__(cls)
    tensor._sig = sig
    tensor._array = array
    tensor._storage = storage
    tensor._offset = offset
    tensor._counter = counter
    tensor._grad_fn = None
    tensor._output_nr = 0
    tensor._view = None
    tensor._meta = None
    return tensor


def conceal(tensor: T, pipe: object) -> T:
    """Take the array of a tensor away, which is to ask `pipe` for it, and return the tensor."""
    del tensor._array
    tensor._pipe = pipe
    return tensor


_array_slot = TensorBase.__dict__["_array"].__get__


def has_bytes(tensor: TensorBase) -> bool:
    """True when the tensor's memory exists, though recorded calls may be about to change its contents."""
    try:
        _array_slot(tensor)
    except AttributeError:
        return False
    return True


def is_bare(tensor: TensorBase) -> bool:
    """True for a tensor that has no array: on the meta device, or of a class that wraps others. One that waits for its
    memory is not bare."""
    try:
        return _array_slot(tensor) is None
    except AttributeError:
        return False


NO_MEMORY = (
    "The tensor has a non-zero number of elements, but its data is not allocated yet.\nIf you're using "
    "torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel. To fix this, please wrap "
    "the custom kernel into an opaque custom op. Please see the following for details: "
    "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html\nIf you're using Caffe2, Caffe2 uses a lazy "
    "allocation, so you will need to call mutable_data() or raw_mutable_data() to actually allocate memory."
)


def has_lost_bytes(tensor: TensorBase) -> bool:
    """True for a tensor with elements whose storage was made too short for them."""
    spec = tensor._sig.spec
    return bool(is_bare(tensor) and not tensor._wraps and spec.device.type != "meta" and spec.numel)


def check_bytes(tensors: Iterable[TensorBase]) -> None:
    """Raise torch's error where a tensor has elements and no memory for them."""
    if any(has_lost_bytes(tensor) for tensor in tensors):
        raise RuntimeError(NO_MEMORY)


def share_bytes(cls: type[TensorBase], sig: Signature, tensor: TensorBase) -> TensorBase:
    """Return a `cls` without autograd history over the bytes and version counter of `tensor`, which may wait for them."""
    pipe = thread.pipe
    if tensor._wraps:
        cls = type(tensor)
    if pipe is None or has_bytes(tensor):
        storage = tensor._storage
        try:
            array = tensor._array
        except AttributeError:  # its storage shares bytes with a lazy clone
            return conceal(make_tensor(cls, sig, None, storage, tensor._offset, tensor._counter), tensor._pipe)
        if storage is None and array.__class__ is np.ndarray:
            storage = tensor._materialized_storage()  # each would make its own over the same bytes
        return make_tensor(cls, sig, array, storage, tensor._offset, tensor._counter)
    alias = object.__new__(cls)
    alias._sig = sig
    alias._offset = tensor._offset
    alias._counter = tensor._counter
    alias._grad_fn = None
    alias._output_nr = 0
    alias._view = None
    alias._meta = None
    pipe.share(tensor, alias)
    return alias


array_makers: dict[str, Callable[[UntypedStorage, Spec, int], Any]] = {}
"""Device type to the function that makes its arrays, for devices whose bytes the host cannot see."""


def array_of_storage(storage: UntypedStorage, spec: Spec, offset: int) -> Any:
    """Return the array over `storage` that `spec` describes, `offset` elements in: numpy's, or the device's own."""
    make = array_makers.get(storage.device.type)
    if make is not None:
        return make(storage, spec, offset)
    return _array_over(storage.buffer, spec, offset)


def _array_over(buffer: np.ndarray[Any, Any] | None, spec: Spec, offset: int) -> Any:
    if not spec.numel:  # numpy refuses an offset past the end, although nothing is read there
        return np.ndarray(spec.shape, spec.np_dtype)
    return np.ndarray(spec.shape, spec.np_dtype, buffer, offset * spec.itemsize, spec.np_strides)


def shares_bytes(tensor: object) -> bool:
    """True for a tensor that has no array because its storage shares bytes with a lazy clone."""
    return isinstance(tensor, TensorBase) and type(getattr(tensor, "_pipe", None)) is CopyOnWrite


class MathBits:
    """What a tensor has in the place of an array that shows the conjugates, the negatives, or both, of what its storage
    holds."""

    __slots__ = ("conj", "neg")

    def __init__(self, conj: bool, neg: bool) -> None:
        self.conj = conj
        self.neg = neg

    def flush(self) -> None:
        """Raise torch's error: there are no such bytes to give away."""
        bit, resolve = ("conjugate", "resolve_conj") if self.conj else ("negative", "resolve_neg")
        raise RuntimeError(
            f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.{resolve}().numpy() instead."
        )


MATH_BITS = {(conj, neg): MathBits(conj, neg) for conj in (False, True) for neg in (False, True)}
"""The one object for each pair of the bits conj and neg."""
_NO_BITS = MATH_BITS[False, False]


def math_bits(tensor: object) -> MathBits:
    """Return the bits of a tensor; both are False for one that shows what its storage holds, and for what is no tensor."""
    pipe = getattr(tensor, "_pipe", None) if isinstance(tensor, TensorBase) else None
    return pipe if type(pipe) is MathBits else _NO_BITS


def has_math_bits(tensor: object) -> bool:
    """True for a tensor that shows something else than what its storage holds."""
    return isinstance(tensor, TensorBase) and type(getattr(tensor, "_pipe", None)) is MathBits


def shared_array(tensor: TensorBase) -> Any:
    """Return an array over the storage of a tensor that has none itself, not to be written."""
    return _array_over(tensor._materialized_storage()._allocation.read(), tensor._sig.spec, tensor._offset)
