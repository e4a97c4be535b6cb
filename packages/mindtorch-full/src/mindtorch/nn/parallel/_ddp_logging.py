"""What is known of a module's training by several processes."""

from __future__ import annotations

import os
from typing import Any

import mindtorch as torch


class Logger:
    """What is known of a module's training; `_get_ddp_logging_data` shows it."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}

    def set_error_and_log(self, text: str) -> None:
        """Keep an error."""
        self.data.update(error=text, has_error=1)


def logging_data(ddp: Any) -> dict[str, Any]:
    """Return what is known of the module and its training."""
    reducer = ddp.reducer
    total = sum(p.numel() * p.element_size() for p in reducer.parameters)
    dtypes = dict.fromkeys(str(p.dtype).removeprefix("torch.").removesuffix("32") for p in reducer.parameters)
    return {
        "world_size": ddp.process_group.size(),
        "rank": ddp.process_group.rank(),
        "module_name": type(ddp.module).__name__,
        "device_ids": ", ".join(map(str, ddp.device_ids or ())),
        "output_device": -1 if ddp.output_device is None else ddp.output_device,
        "backend_name": ddp.process_group.name(),
        "iteration": reducer.iterations,
        "dtypes": ", ".join(dtypes),
        "total_parameter_size_bytes": total,
        "num_parameter_tensors": len(reducer.parameters),
        "bucket_sizes": ddp._first_bucket_sizes,
        "bucket_cap_bytes": ddp.bucket_bytes_cap,
        "broadcast_buffers": int(ddp.forward_sync_buffers),
        "find_unused_parameters": int(ddp.find_unused_parameters),
        "gradient_as_bucket_view": int(ddp.gradient_as_bucket_view),
        "is_multi_device_module": int(ddp.is_multi_device_module),
        "has_rebuilt_buckets": int(ddp._has_rebuilt_buckets),
        "rebuilt_bucket_sizes": reducer.bucket_sizes(),
        "static_graph": int(ddp.static_graph),
        "has_sync_bn": int(any(isinstance(m, torch.nn.SyncBatchNorm) for m in ddp.module.modules())),
        "master_addr": os.environ.get("MASTER_ADDR", "N/A"),
        "master_port": os.environ.get("MASTER_PORT", "N/A"),
        "torch_distributed_debug": os.environ.get("TORCH_DISTRIBUTED_DEBUG", "N/A"),
    }
