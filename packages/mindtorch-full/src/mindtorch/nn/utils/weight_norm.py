"""Weights as length times direction, by a hook before every call."""

import warnings
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter, UninitializedParameter
from mindtorch.nn.utils._pre_hooks import undone
from mindtorch.ops_table import aten

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes the weight from ``name_g`` (length) and ``name_v`` (direction).

    >>> layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
    >>> hook = next(iter(layer._forward_pre_hooks.values()))
    >>> hook.name, hook.dim
    ('weight', 0)
    """

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """Return the weight."""
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return aten._weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> "WeightNorm":
        """Replace the parameter ``name`` of ``module`` by its two parts; return the hook."""
        warnings.warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
            stacklevel=3,
        )
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        length = aten.norm_except_dim(weight, 2, hook.dim).data
        module.register_parameter(name + "_g", Parameter(length))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight one parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split the parameter ``name`` into length and direction over all dimensions but ``dim``; return the module.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.utils.weight_norm(torch.nn.Linear(2, 3)).weight_g.shape
    torch.Size([3, 1])
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undo :func:`weight_norm`; return the module.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.nn.utils.remove_weight_norm(torch.nn.utils.weight_norm(torch.nn.Linear(2, 3)))
    Linear(in_features=2, out_features=3, bias=True)
    """
    if undone(module, lambda hook: isinstance(hook, WeightNorm) and hook.name == name):
        return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")


adopt(globals())
