"""How one module's parameters are spread, and its inputs and outputs converted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.tensor import DTensor, Placement, Replicate, Shard, distribute_module, distribute_tensor

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
]


class ParallelStyle(ABC):
    """A way to spread a module."""

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: Any, device_mesh: Any) -> Any: ...

    def _shown(self) -> dict[str, Any]:
        """Return what the text of the style tells, by name."""
        return {}

    def __repr__(self) -> str:
        shown = self._shown()
        if not shown:
            return super().__repr__()
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in shown.items())})"


def _spread(tensor: Any, mesh: Any, layouts: Any) -> Any:
    """Return what goes in as a spread tensor."""
    return tensor if isinstance(tensor, DTensor) else DTensor.from_local(tensor, mesh, layouts, run_check=False)


def _arrange(tensor: Any, layouts: Any) -> Any:
    return tensor if tensor.placements == tuple(layouts) else tensor.redistribute(placements=layouts)


def _shard(module: Any, mesh: Any, name: str, placement: Placement, src: int | None) -> None:
    parameter = module._parameters.get(name)
    if parameter is not None:
        spread = distribute_tensor(parameter.detach(), mesh, [placement], src_data_rank=src)
        module.register_parameter(name, torch.nn.Parameter(spread, requires_grad=parameter.requires_grad))


class _LinearStyle(ParallelStyle):
    """What the two ways to spread a linear layer share."""

    input_layouts: tuple[Any, ...]
    output_layouts: tuple[Any, ...]
    desired_input_layouts: tuple[Any, ...]
    use_local_output: bool

    def _prepare_input(self, module: Any, inputs: Any, mesh: Any) -> Any:
        first = _arrange(_spread(inputs[0], mesh, self.input_layouts), self.desired_input_layouts)
        return (first, *inputs[1:])

    def _prepare_output(self, module: Any, outputs: Any, mesh: Any) -> Any:
        outputs = _arrange(outputs, self.output_layouts)
        return outputs.to_local() if self.use_local_output else outputs

    def _shown(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("input_layouts", "output_layouts", "use_local_output")}

    def _partition(self, name: str, module: Any, mesh: Any) -> None:
        raise NotImplementedError

    def _apply(self, module: Any, device_mesh: Any) -> Any:
        return distribute_module(module, device_mesh, self._partition, self._prepare_input, self._prepare_output)


class ColwiseParallel(_LinearStyle):
    """A linear layer's outputs, or an embedding's columns, are spread."""

    def __init__(self, *, input_layouts: Any = None, output_layouts: Any = None, use_local_output: bool = True) -> None:
        super().__init__()
        self.input_layouts = (input_layouts or Replicate(),)
        self.output_layouts = (output_layouts or Shard(-1),)
        self.desired_input_layouts = (Replicate(),)
        self.use_local_output = use_local_output

    def _partition(self, name: str, module: Any, mesh: Any) -> None:
        if isinstance(module, torch.nn.Linear):
            for key in ("weight", "bias"):
                _shard(module, mesh, key, Shard(0), self.src_data_rank)
        elif isinstance(module, torch.nn.Embedding):
            _shard(module, mesh, "weight", Shard(1), self.src_data_rank)
        else:
            raise NotImplementedError("ColwiseParallel currently only support nn.Linear and nn.Embedding!")

    def _prepare_output(self, module: Any, outputs: Any, mesh: Any) -> Any:
        layouts = tuple(Shard(p.dim % outputs.ndim) if isinstance(p, Shard) else p for p in self.output_layouts)
        outputs = _arrange(outputs, layouts)
        return outputs.to_local() if self.use_local_output else outputs


class RowwiseParallel(_LinearStyle):
    """A linear layer's inputs, or an embedding's rows, are spread."""

    def __init__(self, *, input_layouts: Any = None, output_layouts: Any = None, use_local_output: bool = True) -> None:
        super().__init__()
        self.input_layouts = (input_layouts or Shard(-1),)
        self.output_layouts = (output_layouts or Replicate(),)
        self.use_local_output = use_local_output

    def _partition(self, name: str, module: Any, mesh: Any) -> None:
        if isinstance(module, torch.nn.Linear):
            self.desired_input_layouts = (Shard(-1),)
            _shard(module, mesh, "weight", Shard(1), self.src_data_rank)
            _shard(module, mesh, "bias", Replicate(), self.src_data_rank)
        elif isinstance(module, torch.nn.Embedding):
            self.desired_input_layouts = (Replicate(),)
            _shard(module, mesh, "weight", Shard(0), self.src_data_rank)
        else:
            raise NotImplementedError("RowwiseParallel currently only support nn.Linear and nn.Embedding!")

    def _prepare_input(self, module: Any, inputs: Any, mesh: Any) -> Any:
        first = _spread(inputs[0], mesh, self.input_layouts)
        layouts = tuple(Shard(p.dim % first.ndim) if isinstance(p, Shard) else p for p in self.desired_input_layouts)
        return (_arrange(first, layouts), *inputs[1:])


class SequenceParallel(ParallelStyle):
    """Norms and dropout compute on parts of the sequence; their parameters are copies."""

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        super().__init__()
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _shown(self) -> dict[str, Any]:
        return {"sequence_dim": self.sequence_sharding[0].dim, "use_local_output": self.use_local_output}

    def _partition(self, name: str, module: Any, mesh: Any) -> None:
        for key in list(module._parameters):
            _shard(module, mesh, key, Replicate(), self.src_data_rank)

    def _prepare_input(self, module: Any, inputs: Any, mesh: Any) -> Any:
        first = inputs[0]
        if not isinstance(first, torch.Tensor):
            raise ValueError(f"expecting input of {module} to be a torch.Tensor or DTensor, but got {first}")
        return (_arrange(_spread(first, mesh, self.sequence_sharding), self.sequence_sharding), *inputs[1:])

    def _prepare_output(self, module: Any, outputs: Any, mesh: Any) -> Any:
        return outputs.to_local() if self.use_local_output else outputs

    def _apply(self, module: Any, device_mesh: Any) -> Any:
        return distribute_module(module, device_mesh, self._partition, self._prepare_input, self._prepare_output)


def _as_tuple(layouts: Any) -> tuple[Any, ...]:
    return (layouts,) if isinstance(layouts, Placement) or layouts is None else tuple(layouts)


class PrepareModuleInput(ParallelStyle):
    """Converts a module's inputs."""

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.input_layouts = None if input_layouts is None else _as_tuple(input_layouts)
        self.desired_input_layouts = None if desired_input_layouts is None else _as_tuple(desired_input_layouts)
        self.with_kwargs = input_kwarg_layouts is not None
        self.input_kwarg_layouts = input_kwarg_layouts or {}
        self.desired_input_kwarg_layouts = desired_input_kwarg_layouts or {}
        self.use_local_output = use_local_output
        if self.input_layouts is not None:
            if self.desired_input_layouts is None:
                raise AssertionError("desired module inputs should not be None!")
            if len(self.input_layouts) != len(self.desired_input_layouts):
                raise AssertionError("input_layouts and desired_input_layouts should have same length!")

    def _shown(self) -> dict[str, Any]:
        layouts = ("input_layouts", "desired_input_layouts", "input_kwarg_layouts", "desired_input_kwarg_layouts")
        return {name: getattr(self, name) for name in (*layouts, "use_local_output")}

    def _convert(self, value: Any, mesh: Any, layout: Any, desired: Any) -> Any:
        if layout is None:
            return value
        spread = _spread(value, mesh, (layout,))
        if desired is not None:
            spread = _arrange(spread, (desired,))
        return spread.to_local() if self.use_local_output else spread

    def _inputs(self, inputs: Any, mesh: Any) -> Any:
        if self.input_layouts is None:
            return inputs
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        if len(given) != len(self.input_layouts):
            raise ValueError("module inputs and input_layouts should have same length!")
        pairs = zip(given, self.input_layouts, self.desired_input_layouts or (), strict=True)
        return tuple(self._convert(value, mesh, layout, desired) for value, layout, desired in pairs)

    def _hook(self, module: Any, inputs: Any, kwargs: Any, mesh: Any) -> Any:
        named = {
            key: self._convert(
                value, mesh, self.input_kwarg_layouts.get(key), self.desired_input_kwarg_layouts.get(key)
            )
            for key, value in kwargs.items()
        }
        return self._inputs(inputs, mesh), named

    def _apply(self, module: Any, device_mesh: Any) -> Any:
        module.register_forward_pre_hook(partial(_call_hook, self._hook, device_mesh), with_kwargs=True)
        return module


def _call_hook(hook: Any, mesh: Any, module: Any, *given: Any) -> Any:
    return hook(module, *given, mesh)


class PrepareModuleOutput(ParallelStyle):
    """Converts a module's outputs."""

    def __init__(self, *, output_layouts: Any, desired_output_layouts: Any, use_local_output: bool = True) -> None:
        self.output_layouts = _as_tuple(output_layouts)
        self.desired_output_layouts = _as_tuple(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError("output_layouts and desired_output_layouts should have same length!")

    def _shown(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("output_layouts", "desired_output_layouts", "use_local_output")}

    def _hook(self, module: Any, inputs: Any, outputs: Any, mesh: Any) -> Any:
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        if len(given) != len(self.output_layouts):
            raise ValueError("module outputs and output_layouts should have same length!")
        converted = []
        for value, layout, desired in zip(given, self.output_layouts, self.desired_output_layouts, strict=True):
            if layout is not None:
                value = _spread(value, mesh, (layout,))
                value = _arrange(value, (desired,)) if desired is not None else value
                value = value.to_local() if self.use_local_output else value
            converted.append(value)
        return tuple(converted) if isinstance(outputs, tuple) else converted[0]

    def _apply(self, module: Any, device_mesh: Any) -> Any:
        module.register_forward_hook(partial(_call_hook, self._hook, device_mesh))
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """Converts a module's inputs and its outputs."""

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: Any = None,
        desired_input_kwarg_layouts: Any = None,
        use_local_input: bool = False,
        output_layouts: Any,
        desired_output_layouts: Any,
        use_local_output: bool = True,
    ) -> None:
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _shown(self) -> dict[str, Any]:
        inputs = self.prepare_module_input._shown()
        inputs["use_local_input"] = inputs.pop("use_local_output")
        return {**inputs, **self.prepare_module_output._shown()}

    def _apply(self, module: Any, device_mesh: Any) -> Any:
        self.prepare_module_input._apply(module, device_mesh)
        self.prepare_module_output._apply(module, device_mesh)
        return module


adopt(globals())
