"""`CommDebugMode`: which collectives a program begins, in which of its modules, forward and backward."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import mindtorch as torch
from mindtorch.distributed import _operators as _operators  # defines the collectives that are counted
from mindtorch.distributed.tensor._api import DTensor
from mindtorch.distributed.tensor.debug import _comm_report
from mindtorch.distributed.tensor.debug._module_tracker import ModuleTracker
from mindtorch.utils._python_dispatch import TorchDispatchMode

__all__ = ["CommDebugMode"]

_FUNCTIONAL = (
    "all_gather_into_tensor all_gather_into_tensor_coalesced all_reduce all_reduce_coalesced all_to_all_single broadcast "
    "reduce_scatter_tensor reduce_scatter_tensor_coalesced"
).split()
_OF_GROUPS = (
    "_allgather_base_ _reduce_scatter_base_ allgather_ allreduce_ alltoall_ broadcast_ gather_ reduce_ reduce_scatter_ scatter_"
).split()


def _counted() -> dict[Any, Any]:
    """Return, for every collective, the operator under which it is counted: torch's names of before."""
    named = {
        getattr(torch.ops._c10d_functional, name): getattr(torch.ops.c10d_functional, name) for name in _FUNCTIONAL
    }
    differentiable = torch.ops._c10d_functional_autograd
    named |= {
        getattr(differentiable, name): getattr(torch.ops.c10d_functional, name) for name in ("all_to_all_single",)
    }
    alone = [*named.values(), *(getattr(torch.ops.c10d, name) for name in _OF_GROUPS)]
    return named | {packet: packet for packet in alone}


def _by_direction() -> dict[str, dict[Any, int]]:
    return {"forward": defaultdict(int), "backward": defaultdict(int)}


class CommDebugMode(TorchDispatchMode):
    """Counts the collectives that begin within it, and notes all operators, by module."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self._counted = _counted()
        self.comm_registry = set(self._counted)
        self.comm_counts: dict[Any, int] = defaultdict(int)
        self.comm_module_counts: dict[str, dict[str, dict[Any, int]]] = {}
        self.comm_module_operation_counts: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self.advanced_module_tracker = ModuleTracker()

    def __enter__(self) -> CommDebugMode:
        self.comm_counts.clear()
        self.comm_module_counts.clear()
        self.comm_module_counts["Global"] = _by_direction()
        self.comm_module_operation_counts.clear()
        super().__enter__()
        self.advanced_module_tracker.__enter__()
        return self

    def __exit__(self, *args: object) -> None:
        self.advanced_module_tracker.__exit__(*args)
        super().__exit__(*args)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note an operator; one on spread tensors goes to them first, who begin the collectives."""
        noted = self._noted(func, args)
        if any(issubclass(kind, DTensor) for kind in types):
            self._note(noted)
            return NotImplemented
        result = func(*args, **(kwargs or {}))
        packet = self._counted.get(getattr(func, "_overloadpacket", None))
        if packet is not None:
            self._count(packet)
        self._note(noted)
        return result

    def _noted(self, func: Any, args: Any) -> dict[str, Any]:
        tracker = self.advanced_module_tracker
        spread = [value for value in args if isinstance(value, DTensor)]
        return {
            "name": func,
            "input_shape": [value.shape for value in spread],
            "input_sharding": [value.placements for value in spread],
            "device_mesh": str(spread[-1].device_mesh) if spread else "",
            "is_bw": tracker.is_bw,
            "is_activation_checkpointing": tracker.activation_checkpointing,
        }

    def _note(self, noted: dict[str, Any]) -> None:
        name = self.advanced_module_tracker.name
        self.comm_module_operation_counts.setdefault(name, {"operations_list": []})["operations_list"].append(noted)

    def _count(self, packet: Any) -> None:
        """Count a collective, for the module that runs and for those that it is part of."""
        tracker = self.advanced_module_tracker
        direction = "backward" if tracker.is_bw else "forward"
        self.comm_counts[packet] += 1
        for name in dict.fromkeys((tracker.name, *tracker.module_parents_dict.get(tracker.name, ()))):
            self.comm_module_counts.setdefault(name, _by_direction())[direction][packet] += 1

    def get_total_counts(self) -> int:
        """Return how many collectives have begun."""
        return sum(self.comm_counts.values())

    def get_comm_counts(self) -> dict[Any, int]:
        """Return how often each collective has begun."""
        return self.comm_counts

    def get_parameter_info(self) -> dict[str, dict[str, Any]]:
        """Return the parameters of the modules that ran."""
        return self.advanced_module_tracker.module_parameters_dict

    def get_sharding_info(self) -> dict[str, Any]:
        """Return how the spread parameters of the modules that ran lie, by their names."""
        return self.advanced_module_tracker.sharding_dict

    def generate_comm_debug_tracing_table(self, noise_level: int = 3) -> str:
        """Return collectives and operators by module, as text; the higher the level, the more (0 to 3)."""
        return _comm_report.table(self, noise_level)

    def generate_json_dump(self, file_name: str = "comm_mode_log.json", noise_level: int = 3) -> None:
        """Write collectives and operators by module, as JSON."""
        Path(file_name).write_text(_comm_report.as_json(self, noise_level))

    def log_comm_debug_tracing_table_to_file(self, file_name: str = "comm_mode_log.txt", noise_level: int = 3) -> None:
        """Write the table to a file, without colours."""
        Path(file_name).write_text(re.sub(r"\x1b\[[0-9;]*m", "", self.generate_comm_debug_tracing_table(noise_level)))

    def __repr__(self) -> str:
        return f"CommDebugMode(get_total_counts()={self.get_total_counts()})"
