"""The torch surface of MindTorch: `import mindtorch as torch`."""

import importlib.util
import sys
from typing import TYPE_CHECKING

from mindtorch_autograd.mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from mindtorch_storage.device import device
from mindtorch_storage.dtype import dtype
from mindtorch_storage.finfo import finfo, iinfo
from mindtorch_storage.layout import NAMED as _LAYOUTS
from mindtorch_storage.layout import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from mindtorch_storage.lazy_import import load as _load
from mindtorch_storage.qscheme import QSCHEMES as _QSCHEMES
from mindtorch_storage.qscheme import qscheme
from mindtorch_storage.size import Size
from mindtorch_storage.storage import LEGACY_CLASSES as _STORAGE_CLASSES
from mindtorch_storage.storage import TypedStorage, UntypedStorage

from . import _defaults, _dtypes, _naming, _overridable, _source_files, _surface, ops_table
from .__about__ import __version__ as _mindtorch_version
from .functions import bound as _bound
from .functions.distance import cdist
from .functions.factory import (
    can_cast,
    get_default_device,
    get_default_dtype,
    is_storage,
    is_tensor,
    numel,
    promote_types,
    result_type,
    set_default_device,
    set_default_dtype,
    tensor,
)
from .functions.linear_algebra import chain_matmul, lu
from .functions.reductions import norm, unique, unique_consecutive
from .functions.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    einsum,
    meshgrid,
    resize_as_,
    split,
    tensordot,
    unravel_index,
)
from .functions.spectral import stft
from .tensor.legacy import LEGACY_TYPES as _TENSOR_TYPES
from .tensor.printing import set_printoptions
from .tensor.tensor import Tensor
from .tensor.tensor import bind_operators as _bind_operators
from .torch_version import __version__

if TYPE_CHECKING:
    from typing import Any

    from ._operators.functions import *  # noqa: F403 - stubs of what is bound below (tools/stubs.py)

_bind_operators()
globals().update(_dtypes.DTYPES)
globals().update(_STORAGE_CLASSES)
globals().update(_TENSOR_TYPES)
globals().update(_LAYOUTS)
globals().update(_QSCHEMES)
_bound.bind_functions(globals())
_defaults.install_defaults()
_overridable.make_overridable(globals(), ("einsum",), _overridable.one_by_one)
_overridable.make_overridable(
    globals(),
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod numel resize_as_ select "
    "unravel_index".split(),
    _overridable.as_given,
)
_overridable.make_overridable(globals(), ("cdist", "meshgrid", "split", "tensordot"))


def __getattr__(name: str) -> "Any":
    if name == "torch":  # programs write `torch.torch.Tensor`
        return sys.modules[__name__]
    home = _surface.HOMES.get(name)
    if home is not None and importlib.util.find_spec(f"{__name__}.{home}") is not None:
        value = getattr(_load(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value
    if name in _surface.SUBMODULES and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return _load(f"{__name__}.{name}")
    found = _naming.absent("torch", name)
    if found is None:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    return found


def __dir__() -> list[str]:
    there = {name for name in _surface.SUBMODULES if importlib.util.find_spec(f"{__name__}.{name}") is not None}
    return _naming.names_of(__name__, globals(), _surface.HOMES, there)


sys.meta_path.append(_naming.AbsentModules())
_source_files.install()


def _exported() -> list[str]:
    kept = {name for name, value in globals().items() if name[0] != "_" and not isinstance(value, type(sys))}
    kept |= {name for name in _surface.HOMES if name[0] != "_"}
    return sorted(kept - _surface.NOT_EXPORTED - {"TYPE_CHECKING"})


__all__ = _exported()
