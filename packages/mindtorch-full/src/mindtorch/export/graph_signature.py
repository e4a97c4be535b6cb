"""`torch.export.graph_signature`: what the inputs and outputs of an exported graph are."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mindtorch._naming import adopt

__all__ = [
    "ConstantArgument",
    "CustomObjArgument",
    "ExportBackwardSignature",
    "ExportGraphSignature",
    "InputKind",
    "InputSpec",
    "OutputKind",
    "OutputSpec",
    "SymBoolArgument",
    "SymFloatArgument",
    "SymIntArgument",
    "TensorArgument",
]


@dataclasses.dataclass
class TensorArgument:
    """A tensor, by the name of its node.

    >>> from torch.export.graph_signature import TensorArgument
    >>> TensorArgument(name="x")
    TensorArgument(name='x')
    """

    name: str


@dataclasses.dataclass
class TokenArgument:
    """A token that orders effects, by the name of its node."""

    name: str


@dataclasses.dataclass
class SymIntArgument:
    """A whole number that is a symbol, by the name of its node.

    >>> from torch.export.graph_signature import SymIntArgument
    >>> SymIntArgument(name="s")
    SymIntArgument(name='s')
    """

    name: str


@dataclasses.dataclass
class SymFloatArgument:
    """A number that is a symbol, by the name of its node.

    >>> from torch.export.graph_signature import SymFloatArgument
    >>> SymFloatArgument(name="s")
    SymFloatArgument(name='s')
    """

    name: str


@dataclasses.dataclass
class SymBoolArgument:
    """A truth value that is a symbol, by the name of its node.

    >>> from torch.export.graph_signature import SymBoolArgument
    >>> SymBoolArgument(name="s")
    SymBoolArgument(name='s')
    """

    name: str


@dataclasses.dataclass
class CustomObjArgument:
    """An object of a class written in C++, by the name of its node.

    >>> from torch.export.graph_signature import CustomObjArgument
    >>> CustomObjArgument(name="o", class_fqn="my.Class")
    CustomObjArgument(name='o', class_fqn='my.Class', fake_val=None)
    """

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclasses.dataclass
class ConstantArgument:
    """A value that is the same in every call.

    >>> from torch.export.graph_signature import ConstantArgument
    >>> ConstantArgument(name="k", value=3)
    ConstantArgument(name='k', value=3)
    """

    name: str
    value: int | float | bool | str | None


ArgumentSpec = (
    TensorArgument
    | SymIntArgument
    | SymFloatArgument
    | SymBoolArgument
    | ConstantArgument
    | CustomObjArgument
    | TokenArgument
)
_ARGUMENTS = (
    TensorArgument,
    SymIntArgument,
    SymFloatArgument,
    SymBoolArgument,
    ConstantArgument,
    CustomObjArgument,
    TokenArgument,
)


class InputKind(enum.Enum):
    """Where an input comes from.

    >>> from torch.export.graph_signature import InputKind
    >>> [one.name for one in InputKind][:3]
    ['USER_INPUT', 'PARAMETER', 'BUFFER']
    """

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()
    CUSTOM_OBJ = enum.auto()
    TOKEN = enum.auto()


class OutputKind(enum.Enum):
    """Where an output goes.

    >>> from torch.export.graph_signature import OutputKind
    >>> [one.name for one in OutputKind][:3]
    ['USER_OUTPUT', 'LOSS_OUTPUT', 'BUFFER_MUTATION']
    """

    USER_OUTPUT = enum.auto()
    LOSS_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    PARAMETER_MUTATION = enum.auto()
    GRADIENT_TO_PARAMETER = enum.auto()
    GRADIENT_TO_USER_INPUT = enum.auto()
    USER_INPUT_MUTATION = enum.auto()
    TOKEN = enum.auto()


@dataclasses.dataclass
class InputSpec:
    """An input: its kind, its node, the name of the parameter, buffer or constant, and whether a buffer is saved.

    Raises:
        AssertionError: `arg` is no argument, or a buffer does not say whether it is saved.

    >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(1, 2),))
    >>> [(spec.kind.name, spec.target) for spec in program.graph_signature.input_specs]
    [('PARAMETER', 'weight'), ('PARAMETER', 'bias'), ('USER_INPUT', None)]
    """

    kind: InputKind
    arg: ArgumentSpec
    target: str | None
    persistent: bool | None = None

    def __post_init__(self) -> None:
        if self.kind is InputKind.BUFFER and self.persistent is None:
            raise AssertionError("Failed to specify persistent flag on BUFFER.")
        if not isinstance(self.arg, _ARGUMENTS):
            raise AssertionError(f"expected arg to be ArgumentSpec type, got {type(self.arg)}")

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclasses.dataclass
class OutputSpec:
    """An output: its kind, its node, and the name of what it is written to.

    Raises:
        AssertionError: `arg` is no argument.

    >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(1, 2),))
    >>> [spec.kind.name for spec in program.graph_signature.output_specs]
    ['USER_OUTPUT']
    """

    kind: OutputKind
    arg: ArgumentSpec
    target: str | None

    def __post_init__(self) -> None:
        if not isinstance(self.arg, _ARGUMENTS):
            raise AssertionError(f"expected arg to be ArgumentSpec type, got {self.arg}")

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclasses.dataclass
class ExportBackwardSignature:
    """What the outputs of a graph with its backward are.

    >>> torch.export.ExportBackwardSignature({}, {}, "loss").loss_output
    'loss'
    """

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


@dataclasses.dataclass
class ExportGraphSignature:
    """All inputs and outputs of an exported graph, in order.

    >>> import torch.export
    >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(1, 2),))
    >>> program.graph_signature.parameters
    ('weight', 'bias')
    """

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _targets(self, kind: InputKind) -> tuple[str, ...]:
        return tuple(one.target for one in self.input_specs if one.kind is kind and one.target is not None)

    def _inputs_to(self, kind: InputKind) -> Mapping[str, str]:
        found = {one.arg.name: one.target for one in self.input_specs if one.kind is kind and one.target is not None}
        return MappingProxyType(found)

    def _outputs_to(self, kind: OutputKind) -> Mapping[str, str]:
        found = {one.arg.name: one.target for one in self.output_specs if one.kind is kind and one.target is not None}
        return MappingProxyType(found)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that are inputs."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of the buffers that are inputs."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """The names of the buffers that are not saved."""
        return tuple(
            one.target
            for one in self.input_specs
            if one.kind is InputKind.BUFFER and one.persistent is False and one.target is not None
        )

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """The names of the constant tensors that are inputs."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        """The names of the objects that are inputs."""
        return self._targets(InputKind.CUSTOM_OBJ)

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """The inputs of a call: names of nodes, values of constants."""
        return tuple(_named(one.arg) for one in self.input_specs if one.kind is InputKind.USER_INPUT)

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """The results of a call: names of nodes, values of constants."""
        kinds = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
        return tuple(_named(one.arg) for one in self.output_specs if one.kind in kinds)

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """Names of nodes to those of parameters."""
        return self._inputs_to(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """Names of nodes to those of buffers."""
        return self._inputs_to(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """Names of nodes to those of constant tensors."""
        return self._inputs_to(InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self) -> Mapping[str, str]:
        """Names of nodes to those of objects."""
        return self._inputs_to(InputKind.CUSTOM_OBJ)

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """Names of outputs to those of the buffers that they are written to."""
        return self._outputs_to(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        """Names of outputs to those of the parameters that they are written to."""
        return self._outputs_to(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """Names of outputs to those of the inputs that they are written to."""
        return self._outputs_to(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> None:
        """None: the graph has no backward."""
        return None

    @property
    def assertion_dep_token(self) -> None:
        """None: nothing orders assertions."""
        return None

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """The names of tokens that are inputs."""
        return tuple(one.arg.name for one in self.input_specs if one.kind is InputKind.TOKEN)

    @property
    def output_tokens(self) -> tuple[str, ...]:
        """The names of tokens that are outputs."""
        return tuple(one.arg.name for one in self.output_specs if one.kind is OutputKind.TOKEN)

    def replace_all_uses(self, old: str, new: str) -> None:
        """Let every input and output of the node called `old` be that of `new`."""
        for one in (*self.input_specs, *self.output_specs):
            if one.arg.name == old:
                one.arg.name = new

    def __str__(self) -> str:
        inputs = "\n".join(str(one) for one in self.input_specs)
        outputs = "\n".join(str(one) for one in self.output_specs)
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"


def _named(arg: Any) -> Any:
    return arg.value if isinstance(arg, ConstantArgument) else arg.name


adopt(globals())
