"""Tensors over a storage whose bytes move show the new memory."""

import gc

from mindtorch_storage import strides
from mindtorch_storage.quantized import QuantizedSpec
from mindtorch_storage.storage import UntypedStorage, set_relocation_hook
from mindtorch_storage.storage.copy_on_write import CopyOnWrite, shared_bytes
from mindtorch_storage.tensor_base import TensorBase, array_of_storage, conceal, has_math_bits


def follow(storage: UntypedStorage) -> None:
    """Let the tensors over a storage that moved show its new memory.

    They are found through the garbage collector: keeping a list of them would cost every tensor something, for an
    operation that few programs use. A tensor that no longer fits has no elements to show until the storage grows, and one
    whose storage shares bytes with a lazy clone waits for bytes of its own.
    """
    shared = storage._allocation if shared_bytes(storage) is not None else None
    for holder in gc.get_referrers(storage):
        if isinstance(holder, TensorBase) and getattr(holder, "_storage", None) is storage:
            if type(holder._sig.spec) is QuantizedSpec:  # its integers are a holder too
                continue
            if has_math_bits(holder):
                continue
            if shared is not None:
                conceal(holder, shared)
                continue
            spec, offset = holder._sig.spec, holder._offset
            needed = strides.memory_span(spec.shape, spec.stride, offset) * spec.itemsize
            fits = storage.device.type != "meta" and needed <= storage.nbytes()
            holder._array = array_of_storage(storage, spec, offset if spec.numel else 0) if fits else None
            if type(getattr(holder, "_pipe", None)) is CopyOnWrite:
                holder._pipe = None


set_relocation_hook(follow)
