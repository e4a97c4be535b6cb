"""Generators of Ascend devices: seed and offset, as those of CUDA devices, in torch's class."""

from __future__ import annotations

import threading
from typing import Any, NoReturn

import numpy as np

from mindtorch_cpu.generator import Generator, unpack_seed
from mindtorch_npu import runtime
from mindtorch_npu.device import current_device
from mindtorch_npu.generator import STEP, NpuGenerator, default_generator
from mindtorch_storage.device import device as Device

__all__ = ["DeviceGenerator", "default_generators", "generator_of"]


class DeviceGenerator(Generator):
    """A device's stream of random numbers: `torch.Generator(device="npu")` makes one.

    >>> generator = torch.Generator("npu").manual_seed(1)
    >>> generator.initial_seed()
    1
    """

    __slots__ = ("device_stream",)
    __module__ = "torch._C"

    device_stream: NpuGenerator

    def __new__(cls, stream: NpuGenerator) -> DeviceGenerator:  # type: ignore[misc]
        """Show a stream as one of torch's generators."""
        self: DeviceGenerator = object.__new__(cls)
        self.device_stream = stream
        self.lock = threading.Lock()
        return self

    @property
    def engine(self) -> NoReturn:  # type: ignore[override]
        """Raise: the CPU's operators cannot draw from a device's stream."""
        raise RuntimeError("Expected a 'cpu' device type for generator but found 'npu'")

    @property
    def device(self) -> Device:
        """The device whose random numbers this generator makes."""
        return Device("npu", self.device_stream.device_index)

    def manual_seed(self, seed: int, /) -> Generator:
        """Start the stream of `seed`. Returns the generator."""
        self.device_stream.manual_seed(unpack_seed(seed, "manual_seed"))
        return self

    def seed(self) -> int:
        """Seed from the operating system's entropy and return the seed."""
        number = int.from_bytes(np.random.bytes(8), "little")
        self.device_stream.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        """Return the seed that the current stream started from."""
        return self.device_stream.initial_seed()

    def state_bytes(self) -> Any:
        """Return seed and offset as 16 bytes."""
        return np.frombuffer(self.device_stream.state(), np.uint8).copy()

    def set_state_bytes(self, state: Any) -> None:
        """Continue from seed and offset. RuntimeError for another number of bytes."""
        self.device_stream.set_state(bytes(state))

    def clone_state(self) -> Generator:
        """Return a new generator that continues from the same point."""
        other = NpuGenerator(self.device_stream.device_index)
        other.set_state(self.device_stream.state())
        return DeviceGenerator(other)

    def get_offset(self) -> int:  # type: ignore[override]
        """Return how far the stream is."""
        return int.from_bytes(self.device_stream.state()[8:], "little")

    def set_offset(self, offset: int, /) -> Generator:  # type: ignore[override]
        """Continue from a place of the stream. RuntimeError where it is no multiple of 4."""
        number = unpack_seed(offset, "manual_offset")
        if number % STEP:
            raise RuntimeError("offset must be a multiple of 4")
        self.device_stream.set_state(self.device_stream.state()[:8] + number.to_bytes(8, "little"))
        return self

    def graphsafe_get_state(self) -> Generator:  # type: ignore[override]
        """Return a generator of the same stream."""
        return DeviceGenerator(self.device_stream)

    def graphsafe_set_state(self, state: Generator, /) -> Generator:  # type: ignore[override]
        """Draw from another generator's stream from now on. Returns the generator."""
        if not isinstance(state, DeviceGenerator):
            raise TypeError(f"expected a Generator, but got {type(state).__name__}")
        self.device_stream = state.device_stream
        return self


DeviceGenerator.__name__ = DeviceGenerator.__qualname__ = "Generator"  # as programs of torch know it


def generator_of(device: Device) -> Generator:
    """Return a new generator of a device, of the current one where none is named.

    >>> torch.npu.manual_seed(5)
    >>> torch.npu.default_generators[0].initial_seed()
    5
    """
    index = current_device() if device.index is None else device.index
    return DeviceGenerator(NpuGenerator(index))


_defaults: dict[int, DeviceGenerator] = {}


def default_generators() -> tuple[Generator, ...]:
    """Return every device's own generator, none before the runtime is initialised.

    >>> len(torch.npu.default_generators)
    2
    """
    count = runtime.device_count() if runtime.is_initialized() else 0
    return tuple(_defaults.setdefault(index, DeviceGenerator(default_generator(index))) for index in range(count))
