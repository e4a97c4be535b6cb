"""Fake tensors: geometry, dtype and device without data. Every operator runs on the meta device.

with FakeTensorMode() as mode:
    model = Huge()                 # no memory
    out = model(torch.empty(8, 128))
fake = mode.from_tensor(real)      # the fake of a tensor
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch._C._modes import _TorchDispatchModeKey
from mindtorch._functorch import config as functorch_config
from mindtorch._naming import adopt
from mindtorch._subclasses._fake_cache import DispatchCache, _CacheKeyState, key_of
from mindtorch._subclasses._fake_cache import DispatchCacheInfo as DispatchCacheInfo
from mindtorch._subclasses._fake_errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    MetadataMismatchError,
    UnsupportedFakeTensorException,
    UnsupportedMutationAliasingException,
    UnsupportedOperatorException,
)
from mindtorch._subclasses._metadata import TensorMetadata as TensorMetadata
from mindtorch._subclasses._metadata import extract_tensor_metadata as extract_tensor_metadata
from mindtorch._subclasses.meta_utils import Likenesses, MetaConverter
from mindtorch.overrides import TorchFunctionMode
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_infra_mode,
    is_traceable_wrapper_subclass,
    transform_subclass,
)
from mindtorch.utils._pytree import tree_leaves
from mindtorch_dispatch.override.overrides import disabled_torch_function
from mindtorch_dispatch.state import mode_set
from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import make_tensor

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeCopyMode",
    "FakeTensor",
    "FakeTensorConverter",
    "FakeTensorDeviceMismatchError",
    "FakeTensorMode",
    "MetadataMismatchError",
    "UnsupportedFakeTensorException",
    "UnsupportedMutationAliasingException",
    "UnsupportedOperatorException",
    "is_fake",
    "maybe_get_fake_mode",
    "unset_fake_temporarily",
]


def _normalized(device: Any) -> Any:
    device = Device(device)
    return Device(device.type, 0) if device.type not in ("cpu", "meta") and device.index is None else device


class FakeTensor(Tensor):
    """A tensor without data that says it is on `device`; `fake_mode` made it and runs its operators.

    `constant` is the real value of a literal that was turned into a fake, None for all others.
    """

    _mode_key = _TorchDispatchModeKey.FAKE
    __torch_function__ = disabled_torch_function
    _varying: Any = None

    def __new__(cls, fake_mode: Any, elem: Any, device: Any, constant: Any = None, **options: Any) -> Any:
        """Return the fake over the meta tensor `elem`; AssertionError when that one has data."""
        if elem.device.type != "meta":
            raise AssertionError(f"elem.device.type must be 'meta', got {elem.device.type}")
        if not fake_mode.allow_meta and Device(device).type == "meta":
            raise AssertionError("device.type must not be 'meta' when allow_meta is False")
        spec = elem._sig.spec.with_(device=_normalized(device))
        tracked = options.get("requires_grad", elem._sig.requires_grad)
        sig = elem._sig.requiring(tracked).on(spec)
        made = make_tensor(cls, sig, None, elem._materialized_storage(), elem._offset, elem._counter)
        made.fake_mode = fake_mode
        made.constant = constant
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """All is done by `__new__`."""

    @property
    def shape(self) -> Any:
        """The sizes; of a value in a program whose sizes vary, those that do are `torch.SymInt`."""
        varying = self._varying
        return self._sig.spec.shape if varying is None else varying

    def size(self, dim: Any = None) -> Any:
        """Return the sizes, or one of them."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def fake_device(self) -> Any:
        """The device that the tensor says it is on."""
        return self._sig.spec.device

    @staticmethod
    def from_tensor(t: Any, fake_mode: Any) -> Any:
        """Return the fake of a tensor."""
        return fake_mode.from_tensor(t)

    def tolist(self) -> Any:
        """Return the values of a remembered literal; DataDependentOutputException for any other tensor."""
        if self.constant is not None:
            return self.constant.tolist()
        if self.dim() == 0:
            return self.item()
        return [one.tolist() for one in self.unbind(0)]  # type: ignore[attr-defined]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if not all(issubclass(kind, (FakeTensor, torch.nn.Parameter)) for kind in types):
            return NotImplemented
        leaves = tree_leaves((args, kwargs or {}))
        mode = next(leaf.fake_mode for leaf in leaves if isinstance(leaf, FakeTensor))
        with mode:
            return func(*args, **(kwargs or {}))


class FakeTensorConverter:
    """Remembers the fake of every tensor and storage, for as long as that lives."""

    def __init__(self) -> None:
        self.tensor_memo = Likenesses()
        self.meta_converter = MetaConverter()
        self._constants: dict[int, list[weakref.ref[Any]]] = {}

    def keep_constant(self, fake: Any, value: Any) -> None:
        """Remember the value of a fake; fakes whose values share memory forget them together."""
        fake.constant = value
        alike = self._constants.setdefault(value.untyped_storage()._cdata, [])
        alike[:] = [one for one in alike if one() is not None and one() is not fake]
        alike.append(weakref.ref(fake))

    def forget_constants(self, memory: set[int]) -> None:
        """Forget the values in these storages, which are written with something unknown, or may be."""
        for fake in (one() for storage in memory for one in self._constants.pop(storage, ())):
            if fake is not None:
                fake.constant = None

    def from_real_tensor(self, fake_mode: Any, t: Any) -> Any:
        """Return the fake of a tensor, the same one as long as it lives."""
        return self.fake_of(fake_mode, t)

    def from_meta_and_device(self, fake_mode: Any, t: Any, device: Any) -> Any:
        """Return the fake over a meta tensor that says it is on ``device``."""
        if t.device.type != "meta":
            raise AssertionError("tensor must be on the `meta` device")
        return self.tensor_memo.of(t, lambda: FakeTensor(fake_mode, t, Device(device)))

    def fake_of(self, mode: Any, tensor: Any) -> Any:
        """Return the fake of `tensor`, the same one every time; tensors over one storage have fakes over one."""
        return self.tensor_memo.of(tensor, lambda: self._make(mode, tensor))

    def _make(self, mode: Any, tensor: Any) -> Any:
        elem = self.meta_converter.element(tensor)
        made: Any = FakeTensor(mode, elem, tensor.device, requires_grad=tensor.requires_grad)
        if tensor.is_inference():
            made._sig = made._sig.spec.inference_tracked if tensor.requires_grad else made._sig.spec.inference
        if tensor.requires_grad and not tensor.is_leaf:
            with mode, torch.enable_grad():
                made = made.clone()
        if isinstance(tensor, torch.nn.Parameter):
            made._is_param = True
        if tensor.is_leaf and tensor.grad is not None:
            made.grad = self.fake_of(mode, tensor.grad)
        return made


class FakeTensorMode(TorchDispatchMode):
    """The mode in which tensors are fake: factories make fakes, operators on fakes give fakes, and nothing is computed.

    Args:
        allow_fallback_kernels: accepted; operators that nothing describes raise UnsupportedOperatorException.
        allow_non_fake_inputs: turn real operands into fakes instead of raising.
        shape_env: symbolic shapes are not offered; anything but None raises.
        static_shapes, export: accepted; shapes are always static.
    """

    _mode_key = _TorchDispatchModeKey.FAKE
    _cache = DispatchCache()

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: Any = None,
        static_shapes: bool | None = None,
        export: bool = False,
    ) -> None:
        super().__init__()
        if shape_env is not None:
            raise NotImplementedError("FakeTensorMode: symbolic shapes (shape_env) are not offered; shapes are static")
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = None
        self.static_shapes = True if static_shapes is None else static_shapes
        self.export = export
        self.allow_meta = bool(functorch_config.fake_tensor_allow_meta)
        self.fake_tensor_converter = FakeTensorConverter()
        self._entered: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.dispatch(func, types, args, kwargs)

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator without data; the errors of this module where it needs some."""
        return self._cache.call(self, FakeTensor, func, args, dict(kwargs or {}))

    def _cache_key(self, state: _CacheKeyState, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Return what the result of a call depends on; calls with the same one have the same result."""
        return key_of(self, FakeTensor, func, args, kwargs)

    @classmethod
    def cache_info(cls) -> DispatchCacheInfo:
        """Return how often calls were known from earlier ones."""
        return cls._cache.info()

    @classmethod
    def cache_clear(cls) -> None:
        """Forget all calls."""
        cls._cache.clear()

    def __enter__(self) -> FakeTensorMode:
        modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
        replaced = next((mode for mode in modes if isinstance(mode, FakeTensorMode)), None)
        self._entered.append(replaced)
        if replaced is not self:
            if replaced is not None:
                torch.utils._python_dispatch._pop_mode(self._mode_key)
            super().__enter__()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        replaced = self._entered.pop()
        if replaced is self:
            return
        super().__exit__(exc_type, exc_value, traceback)
        if replaced is not None:
            torch.utils._python_dispatch._push_mode(replaced)

    def __deepcopy__(self, memo: dict[int, Any]) -> FakeTensorMode:
        return self

    @classmethod
    def is_infra_mode(cls) -> bool:
        """True: it stands below a program's own modes."""
        return True

    def is_our_fake(self, t: object) -> bool:
        """Whether a value is a fake of this mode."""
        return isinstance(t, FakeTensor) and t.fake_mode is self

    def from_tensor(
        self,
        tensor: Any,
        *,
        static_shapes: bool | None = None,
        source: Any = None,
        symbolic_context: Any = None,
        trace: bool = True,
    ) -> Any:
        """Return the fake of a tensor: its geometry, dtype, device and requires_grad."""
        if isinstance(tensor, FakeTensor):
            if tensor.fake_mode is not self:
                raise AssertionError("Mixing fake modes NYI")
            return tensor
        with _disable_infra_mode(self._mode_key), mode_set(exclude=0):
            if is_traceable_wrapper_subclass(tensor):
                return transform_subclass(tensor, lambda name, inner: self.from_tensor(inner))
            return self.fake_tensor_converter.fake_of(self, tensor)


class FakeCopyMode(TorchFunctionMode):
    """A mode in which `copy.deepcopy` makes fakes of ``fake_mode``: of a module one without data."""

    def __init__(self, fake_mode: FakeTensorMode) -> None:
        super().__init__()
        self.fake_mode = fake_mode

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.__deepcopy__:
            tensor, memo = args
            if id(tensor) not in memo:
                memo[id(tensor)] = self.fake_mode.from_tensor(tensor)
            return memo[id(tensor)]
        if getattr(func, "__name__", "") == "clone":
            args = (self.fake_mode.from_tensor(args[0]), *args[1:])
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def is_fake(x: object) -> bool:
    """Whether a value is a fake tensor or a wrapper of some."""
    if isinstance(x, FakeTensor):
        return True
    if is_traceable_wrapper_subclass(x):
        names, _ = x.__tensor_flatten__()  # type: ignore[attr-defined]
        return all(is_fake(getattr(x, name)) for name in names)
    return False


def maybe_get_fake_mode(t: object) -> Any:
    """Return the mode of a fake tensor, None for any other value."""
    if isinstance(t, FakeTensor):
        return t.fake_mode
    if is_traceable_wrapper_subclass(t):
        names, _ = t.__tensor_flatten__()  # type: ignore[attr-defined]
        modes = [maybe_get_fake_mode(getattr(t, name)) for name in names]
        return modes[0] if modes and all(mode is modes[0] for mode in modes) else None
    return None


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[Any]:
    """Run the block with real tensors; gives the mode that was active, or None."""
    with _disable_infra_mode(_TorchDispatchModeKey.FAKE) as mode:
        yield mode


adopt(globals())
