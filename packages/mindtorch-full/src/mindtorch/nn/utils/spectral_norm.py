"""Weights divided by their largest singular value, by a hook before every call."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.functional import normalize
from mindtorch.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter, UninitializedParameter
from mindtorch.nn.utils._pre_hooks import undone

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]


class SpectralNorm:
    """The hook that estimates the largest singular value by power iteration and divides the weight by it.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))
    >>> [type(hook).__name__ for hook in layer._forward_pre_hooks.values()]
    ['SpectralNorm']
    """

    # Version 1 keeps the original weight as ``name_orig``; its hooks write the version into checkpoints.
    _version: int = 1
    name: str
    dim: int
    n_power_iterations: int
    eps: float

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Return the weight as a matrix whose rows are the entries of ``dim``."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """Return the normalized weight; in training the singular vectors move one step, in place."""
        weight = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with mindtorch.no_grad():
                for _ in range(self.n_power_iterations):
                    v = normalize(mindtorch.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = normalize(mindtorch.mv(matrix, v), dim=0, eps=self.eps, out=u)
                if self.n_power_iterations > 0:
                    # The buffers change again at the next call; the graph of this one needs today's values.
                    u = u.clone(memory_format=mindtorch.contiguous_format)
                    v = v.clone(memory_format=mindtorch.contiguous_format)
        sigma = mindtorch.dot(u, mindtorch.mv(matrix, v))
        return weight / sigma

    def remove(self, module: Module) -> None:
        """Make the normalized weight an ordinary parameter."""
        with mindtorch.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        delattr(module, self.name + "_u")
        delattr(module, self.name + "_v")
        delattr(module, self.name + "_orig")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat: Tensor, u: Tensor, target_sigma: Any) -> Tensor:
        """Return the right vector that gives ``target_sigma`` for the stored left one."""
        v = mindtorch.linalg.multi_dot(
            [weight_mat.t().mm(weight_mat).pinverse(), weight_mat.t(), u.unsqueeze(1)]
        ).squeeze(1)
        return v.mul_(target_sigma / mindtorch.dot(u, mindtorch.mv(weight_mat, v)))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> "SpectralNorm":
        """Normalize the parameter ``name`` of ``module`` from now on; return the hook."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with mindtorch.no_grad():
            height, width = hook.reshape_weight_to_matrix(weight).size()
            u = normalize(weight.new_empty(height).normal_(0, 1), dim=0, eps=hook.eps)
            v = normalize(weight.new_empty(width).normal_(0, 1), dim=0, eps=hook.eps)
        delattr(module, hook.name)
        module.register_parameter(hook.name + "_orig", weight)
        # A plain attribute: the parameter's data, until the first call computes the normalized weight.
        setattr(module, hook.name, weight.data)
        module.register_buffer(hook.name + "_u", u)
        module.register_buffer(hook.name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Reads checkpoints written before the right singular vector was stored.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))
    >>> layer.load_state_dict(torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2)).state_dict())
    <All keys matched successfully>
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        fn = self.fn
        version = local_metadata.get("spectral_norm", {}).get(fn.name + ".version", None)
        if version is not None and version >= 1:
            return
        weight_key = prefix + fn.name
        suffixes = ("_orig", "", "_u")
        if version is None and all(weight_key + s in state_dict for s in (*suffixes, "_v")):
            return
        if any(weight_key + s not in state_dict for s in suffixes):
            if strict:
                missing_keys.extend(weight_key + s for s in suffixes if weight_key + s not in state_dict)
            return
        with mindtorch.no_grad():
            original = state_dict[weight_key + "_orig"]
            weight = state_dict.pop(weight_key)
            sigma = (original / weight).mean()
            matrix = fn.reshape_weight_to_matrix(original)
            state_dict[weight_key + "_v"] = fn._solve_v_and_rescale(matrix, state_dict[weight_key + "_u"], sigma)


class SpectralNormStateDictHook:
    """Writes the version of the format into the metadata.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))
    >>> layer.state_dict()._metadata[""]["spectral_norm"]
    {'weight.version': 1}
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide the parameter ``name`` by its largest singular value at every call; return the module.

    >>> torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3)).weight_u.shape
    torch.Size([3])
    """
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo :func:`spectral_norm`, keeping the normalized weight; return the module.

    >>> torch.nn.utils.remove_spectral_norm(torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3)))
    Linear(in_features=2, out_features=3, bias=True)
    """
    if not undone(module, lambda hook: isinstance(hook, SpectralNorm) and hook.name == name):
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    _drop_hook(module._state_dict_hooks, SpectralNormStateDictHook, name)
    _drop_hook(module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook, name)
    return module


def _drop_hook(hooks: Any, kind: type, name: str) -> None:
    for key, hook in hooks.items():
        # Pre-hooks are registered inside a wrapper.
        own = getattr(hook, "hook", hook)
        if isinstance(own, kind) and own.fn.name == name:
            del hooks[key]
            return


adopt(globals())
