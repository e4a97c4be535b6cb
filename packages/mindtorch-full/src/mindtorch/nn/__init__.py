"""Building blocks of neural networks."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.nn import _reduction, common_types, functional, init
from mindtorch.nn.modules import *  # noqa: F403 - the list is modules.__all__
from mindtorch.nn.modules import __all__ as _module_names
from mindtorch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from mindtorch_storage.lazy_import import submodules as _submodules

from mindtorch.nn import attention, grad, modules, parallel, parameter, utils  # isort: skip - they build on the modules
from mindtorch.nn.parallel import DataParallel  # isort: skip

__all__ = [
    *_module_names,
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "_reduction",
    "attention",
    "common_types",
    "factory_kwargs",
    "functional",
    "grad",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """Return ``device``, ``dtype`` and ``memory_format`` of ``kwargs`` and of its ``factory_kwargs``.

    Raises TypeError for other names and for one given twice.

    >>> torch.nn.factory_kwargs({"dtype": torch.float64})
    {'dtype': torch.float64}
    """
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    unexpected = set(kwargs) - simple - {"factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    made = dict(kwargs.get("factory_kwargs", {}))
    for name in simple:
        if name in kwargs:
            if name in made:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            made[name] = kwargs[name]
    return made


__getattr__ = _submodules(__name__, "quantized", "torch.nn")


adopt(globals())
