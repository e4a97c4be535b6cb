"""`DTensor`: a tensor whose parts, copies or terms lie in the processes of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch.autograd import Function
from mindtorch.distributed.device_mesh import _mesh_resources
from mindtorch.distributed.tensor._dispatch import dispatch
from mindtorch.distributed.tensor._dtensor_spec import DTensorSpec
from mindtorch.distributed.tensor._layout import (
    Layout,
    chunk,
    cutting_order,
    local_shape_and_offset,
    normalize,
    redistribute_local,
)
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, _StridedShard
from mindtorch.tensor.tensor import Tensor


def _without_partial(placements: Sequence[Placement]) -> tuple[Placement, ...]:
    return tuple(Replicate() if isinstance(p, Partial) else p for p in placements)


class DTensor(Tensor):
    """A tensor that is spread over the processes of a mesh, as its placements say."""

    _implicit_replication = False

    @staticmethod
    def __new__(cls, local_tensor: Any, spec: Layout, *, requires_grad: bool) -> DTensor:
        """Wrap a part."""
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            spec.shape,
            strides=spec.stride,
            dtype=local_tensor.dtype,
            device=local_tensor.device,
            layout=local_tensor.layout,
            requires_grad=requires_grad,
        )
        made._dtensor_spec = spec
        made._local_tensor = local_tensor.detach() if local_tensor.requires_grad else local_tensor
        return made

    @classmethod
    def _wrap(
        cls, local: Any, mesh: Any, placements: Sequence[Placement], shape: Any = None, stride: Any = None
    ) -> DTensor:
        shape = tuple(local.shape if shape is None else shape)
        stride = tuple(local.stride() if stride is None else stride)
        spec = Layout(mesh, tuple(placements), shape, stride, local.dtype)
        return DTensor(local, spec, requires_grad=False)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return dispatch(DTensor, func, args, kwargs or {})

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override] # torch asks nobody for it
        shown: Any = self._local_tensor
        if self.is_leaf and self.requires_grad:
            shown = shown.detach().requires_grad_()
        if shown.ndim == 0 and not shown.requires_grad:
            shown = shown.item()
        return f"DTensor(local_tensor={shown}, device_mesh={self._dtensor_spec.mesh}, placements={self._dtensor_spec.placements})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (self._local_tensor, self._dtensor_spec, self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            made = DTensor(self._local_tensor.clone(), self._dtensor_spec, requires_grad=self.requires_grad)
            memo[id(self)] = torch.nn.Parameter(made, self.requires_grad) if _is_parameter(self) else made
        return memo[id(self)]

    def __tensor_flatten__(self) -> tuple[list[str], tuple[Layout, bool]]:
        return ["_local_tensor"], (self._dtensor_spec, self.requires_grad)

    @staticmethod
    def __tensor_unflatten__(
        inner_tensors: dict[str, Tensor], flatten_spec: tuple[Layout, bool], outer_size: object, outer_stride: object
    ) -> DTensor:
        spec, requires_grad = flatten_spec
        return DTensor(inner_tensors["_local_tensor"], spec, requires_grad=requires_grad)

    @staticmethod
    def from_local(
        local_tensor: Any,
        device_mesh: Any = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Any = None,
        stride: Any = None,
        grad_placements: Any = None,
    ) -> DTensor:
        """Make a tensor of each process's part; its gradient is that part's."""
        mesh = device_mesh or _mesh_resources.get_current_mesh()
        for at, placement in enumerate(placements or ()):
            if isinstance(placement, Shard) and placement.dim >= local_tensor.ndim:
                raise RuntimeError(
                    f"Sharding dim {placement.dim} greater than tensor ndim {local_tensor.ndim} for placement number {at}"
                )
        chosen = normalize(placements, mesh, local_tensor.ndim)
        if run_check:
            for mesh_dim, placement in enumerate(chosen):
                if isinstance(placement, Replicate):
                    dist.broadcast(local_tensor.detach(), group=mesh.get_group(mesh_dim), group_src=0)
        if (shape is None) != (stride is None):
            raise RuntimeError(
                f"Found shape:{shape}, stride:{stride}.Please pass both shape and stride at the same time."
            )
        return _FromLocal.apply(local_tensor, mesh, chosen, shape, stride)

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Any:
        """Return this process's part, through which gradients flow back."""
        if not torch.is_grad_enabled():
            return self._local_tensor
        return _ToTorchTensor.apply(self, None if grad_placements is None else tuple(grad_placements))

    def redistribute(
        self,
        device_mesh: Any = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Any = None,
        backward_dtype: Any = None,
    ) -> DTensor:
        """Return the tensor in another arrangement."""
        if forward_dtype is not None or backward_dtype is not None:
            raise NotImplementedError("DTensor.redistribute: forward_dtype and backward_dtype are not offered")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        mesh = device_mesh or self._dtensor_spec.mesh
        if mesh != self._dtensor_spec.mesh:
            raise NotImplementedError("Cross device mesh comm not supported yet!")
        chosen = normalize(placements, mesh, self.ndim)
        for placement, now in zip(chosen, self._dtensor_spec.placements, strict=True):
            if isinstance(placement, Partial) and now != placement:
                raise RuntimeError(
                    f"Can not redistribute from {now} to {placement}, "
                    "redistributing to Partial is for internal use only!"
                )
        return _Redistribute.apply(self, chosen)

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Any:
        """Return the whole tensor."""
        whole = self.redistribute(placements=[Replicate()] * self._dtensor_spec.mesh.ndim)
        return _ToTorchTensor.apply(whole, None if grad_placements is None else tuple(grad_placements))

    @property  # type: ignore[override] # the geometry of that name is `_sig.spec`
    def _spec(self) -> DTensorSpec:
        """How the tensor lies, as programs that ask for it know it."""
        return DTensorSpec.of(self._dtensor_spec)

    @_spec.setter
    def _spec(self, spec: Layout) -> None:
        self._dtensor_spec = spec

    @property
    def device_mesh(self) -> Any:
        """The mesh."""
        return self._dtensor_spec.mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """How each dimension of the mesh holds the tensor."""
        return self._dtensor_spec.placements


def _is_parameter(tensor: Any) -> bool:
    return isinstance(tensor, torch.nn.Parameter)


def _rebuild(local: Any, spec: Layout, requires_grad: bool) -> DTensor:
    return DTensor(local, spec, requires_grad=requires_grad)


class _FromLocal(Function):
    @staticmethod
    def forward(ctx: Any, local: Any, mesh: Any, placements: Any, shape: Any, stride: Any) -> Any:
        """Wrap a part."""
        ctx.placements = placements
        whole = list(local.shape)
        if shape is None:
            for mesh_dim, placement in enumerate(placements):
                if isinstance(placement, (Shard, _StridedShard)):
                    whole[placement.dim] *= mesh.size(mesh_dim)
            stride = _strides_like(local, whole)
        return DTensor._wrap(local.view_as(local), mesh, placements, shape or whole, stride)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Return the gradient's part."""
        wanted = _without_partial(ctx.placements)
        return redistribute_local(grad._local_tensor, grad._dtensor_spec, wanted), None, None, None, None


def _strides_like(local: Any, whole: Sequence[int]) -> list[int]:
    """Return the strides of the whole, its dimensions in the part's order."""
    strides, step = [0] * len(whole), 1
    for dim in sorted(range(len(whole)), key=lambda d: (local.stride(d), -d)):
        strides[dim] = step
        step *= max(whole[dim], 1)
    return strides


class _ToTorchTensor(Function):
    @staticmethod
    def forward(ctx: Any, given: Any, grad_placements: Any) -> Any:
        """Take the part."""
        ctx.spec, ctx.grad_placements = given._dtensor_spec, grad_placements
        return given._local_tensor.view_as(given._local_tensor)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Wrap the part's gradient."""
        spec = ctx.spec
        placements = ctx.grad_placements or _without_partial(spec.placements)
        return DTensor._wrap(grad, spec.mesh, placements, spec.shape, spec.stride), None


class _Redistribute(Function):
    @staticmethod
    def forward(ctx: Any, given: Any, placements: Any) -> Any:
        """Arrange anew."""
        spec = ctx.spec = given._dtensor_spec
        local = redistribute_local(given._local_tensor, spec, placements)
        local = local.view_as(local) if local is given._local_tensor else local
        return DTensor._wrap(local, spec.mesh, placements, spec.shape, spec.stride)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Arrange the gradient as the tensor was."""
        wanted = _without_partial(ctx.spec.placements)
        local = redistribute_local(grad._local_tensor, grad._dtensor_spec, wanted)
        return DTensor._wrap(
            local, grad._dtensor_spec.mesh, wanted, grad._dtensor_spec.shape, grad._dtensor_spec.stride
        ), None


def distribute_tensor(
    tensor: Any,
    device_mesh: Any = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Any:
    """Spread a tensor that a process has: every process gets its part of `src_data_rank`'s."""
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(
                f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} to a different device mesh {mesh}."
            )
        if tensor.placements != normalize(placements, mesh, tensor.ndim):
            raise ValueError(
                f"Cannot distribute a DTensor with placements {tensor.placements} to a different placements {placements}. do "
                "you want to call `redistribute` instead?"
            )
        return tensor
    if not tensor.is_leaf:
        raise RuntimeError("`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!")
    chosen = normalize(placements, mesh, tensor.ndim)
    local = tensor.detach()
    if local.device.type != mesh.device_type and local.device.type != "meta":
        local = local.to(mesh.device_type)
    for mesh_dim in cutting_order(chosen):
        placement = chosen[mesh_dim]
        if src_data_rank is not None and local.device.type != "meta":
            local = local.contiguous().clone()
            dist.broadcast(local, group=mesh.get_group(mesh_dim), group_src=src_data_rank)
        if isinstance(placement, (Shard, _StridedShard)):
            local = chunk(local, placement.dim, mesh, mesh_dim).clone()
        elif isinstance(placement, Partial):
            local = local / mesh.size(mesh_dim) if placement.reduce_op == "sum" else local
    spec = Layout(mesh, chosen, tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
    return DTensor(local, spec, requires_grad=tensor.requires_grad)


def distribute_module(
    module: Any,
    device_mesh: Any = None,
    partition_fn: Callable[[str, Any, Any], None] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> Any:
    """Spread a module's parameters as `partition_fn` does, all others as copies; convert what goes in and comes out."""
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError(
            "distribute_module should only be called once on a module, but it has already been called on this module!"
        )
    copies = [Replicate()] * mesh.ndim
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        for key, parameter in list(part._parameters.items()):
            if parameter is not None and not isinstance(parameter, DTensor):
                spread = distribute_tensor(parameter.detach(), mesh, copies)
                part.register_parameter(key, torch.nn.Parameter(spread, parameter.requires_grad))
        for key, buffer in list(part._buffers.items()):
            if buffer is not None and not isinstance(buffer, DTensor):
                part._buffers[key] = distribute_tensor(buffer, mesh, copies)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda mod, inputs: input_fn(mod, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda mod, inputs, outputs: output_fn(mod, outputs, mesh))
    module._distribute_module_applied = True
    return module


def _spread(make: Callable[..., Any], size: Any, kwargs: dict[str, Any]) -> DTensor:
    """Make a tensor of a size that is spread over a mesh: every process makes its part, but for random numbers."""
    if len(size) == 1 and isinstance(size[0], Sequence) and not isinstance(size[0], str):
        size = size[0]
    size = torch.Size(size)
    mesh = kwargs.pop("device_mesh") or _mesh_resources.get_current_mesh()
    placements = kwargs.pop("placements") or (Replicate(),) * mesh.ndim
    if len(placements) != mesh.ndim:
        raise AssertionError("mesh dimension does not match the length of placements")
    if kwargs["layout"] != torch.strided:
        raise AssertionError("layout value not supported!")
    kwargs["device"] = mesh.device_type
    if make in (torch.rand, torch.randn):  # the numbers are those of one process
        numbers: DTensor = distribute_tensor(make(size, **kwargs), mesh, placements)
        return numbers
    chosen = normalize(placements, mesh, len(size))
    local = make(local_shape_and_offset(size, mesh, chosen)[0], **kwargs)
    whole = torch.empty(size, dtype=local.dtype, device="meta")
    layout = Layout(mesh, chosen, tuple(size), tuple(whole.stride()), local.dtype)
    return DTensor(local.detach(), layout, requires_grad=kwargs["requires_grad"])


def _factory(make: Callable[..., Any]) -> Callable[..., DTensor]:
    def factory(
        *size: Any,
        dtype: Any = None,
        layout: Any = torch.strided,
        requires_grad: bool = False,
        device_mesh: Any = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        kwargs = {"dtype": dtype, "layout": layout, "requires_grad": requires_grad}
        return _spread(make, size, {**kwargs, "device_mesh": device_mesh, "placements": placements})

    factory.__name__ = factory.__qualname__ = make.__name__
    factory.__doc__ = (
        f"Return what `torch.{make.__name__}` does, spread over a mesh (copies, unless `placements` says otherwise)."
    )
    return factory


_PLAIN: tuple[Callable[..., Any], ...] = (torch.empty, torch.ones, torch.rand, torch.randn, torch.zeros)
empty, ones, rand, randn, zeros = map(_factory, _PLAIN)


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = torch.strided,
    requires_grad: bool = False,
    device_mesh: Any = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """Return what `torch.full` does, spread over a mesh (copies, unless `placements` says otherwise)."""
    kwargs = {"dtype": dtype, "layout": layout, "requires_grad": requires_grad}

    def filled(shape: Sequence[int], **given: Any) -> Any:
        return torch.full(shape, fill_value, **given)

    return _spread(filled, (size,), {**kwargs, "device_mesh": device_mesh, "placements": placements})
