"""The contracts of the NPU runtime in a process that has nothing else of MindTorch: test_mission.py reads what it prints."""

import sys
import warnings

from mindtorch_npu import hooks, memory, peers, properties, stream
from mindtorch_npu.allocator import NpuAllocator

OTHERS = {"numpy", "torch", "mindtorch", "mindtorch_storage", "mindtorch_dispatch"}


class Other:
    """An allocator that tells little."""

    def memory_stats(self):
        """Return two counters."""
        return {"allocated_bytes.all.current": 7, "reserved_bytes.all.current": 7}

    def snapshot(self):
        """Return a dictionary, as other allocators do."""
        return {"segments": [], "device": 0, "allocator": "npu"}


own = hooks._get_allocator
hooks._get_allocator = lambda device=None: Other()
text = memory.memory_summary()
print("Allocated memory" in text, "Reserved memory" in text, memory.memory_snapshot()["allocator"])
hooks._get_allocator = own
print("segments" in memory.memory_snapshot(), "device" in memory.memory_snapshot())

alone = NpuAllocator(device_id=0)
alone._mem_get_info = lambda: (0, 100)
memory.set_per_process_memory_fraction(0.5)
alone._stats["reserved_bytes.all.current"] = 60
try:
    alone._enforce_memory_fraction(50)
except RuntimeError as error:
    print(str(error).split(".")[0])

hooks._get_device_name, hooks._get_device_capability = (lambda device=None: "Ascend"), (lambda device=None: (0, 0))
print(properties.get_device_name("npu:0"), properties.get_device_capability("npu:0"))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    print(peers.can_device_access_peer(0, 1), len(seen))
try:
    print(peers.enable_peer_access(1))
except RuntimeError as error:
    print(type(error).__name__)
print(stream.stream_priority_range())
print({name.partition(".")[0] for name in sys.modules} & OTHERS or "alone")
