"""Ways in which FSDP1's class reduces gradients, given to `register_comm_hook`."""

from mindtorch._naming import adopt
from mindtorch.distributed.algorithms._comm_hooks import default_hooks as default
from mindtorch.distributed.algorithms._comm_hooks import default_hooks as default_hooks

LOW_PRECISION_HOOKS = [default.fp16_compress_hook, default.bf16_compress_hook]

adopt(globals())
