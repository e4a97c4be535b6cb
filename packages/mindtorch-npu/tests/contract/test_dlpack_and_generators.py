"""DLPack capsules over devices' memory, and generators of devices, as torch's CUDA tensors have them."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch.tensor import device_capsules  # noqa: E402
from mindtorch.utils.dlpack import from_dlpack, to_dlpack  # noqa: E402

TYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "bool", "complex64")


@pytest.mark.parametrize("name", TYPES)
def test_a_capsule_gives_the_same_memory_back(npu, name):
    x = mindtorch.arange(24).reshape(2, 3, 4).to(getattr(mindtorch, name)).npu().transpose(0, 2)
    y = from_dlpack(to_dlpack(x))
    assert (y.data_ptr(), y.dtype, y.device, y.stride()) == (x.data_ptr(), x.dtype, x.device, x.stride())
    x.zero_()
    assert not y.cpu().to(mindtorch.float32).any()


def test_a_part_of_a_tensor_and_one_of_another_device(npu):
    x = mindtorch.arange(6.0).to("npu:1")
    y = mindtorch.from_dlpack(x[2:4])
    assert (y.storage_offset(), y.device, y.tolist()) == (2, x.device, [2.0, 3.0])
    assert x.__dlpack_device__() == (12, 1)
    assert mindtorch.from_dlpack(x, device="cpu").device.type == "cpu"
    assert mindtorch.from_dlpack(mindtorch.empty(0, 3).npu()).shape == (0, 3)


def test_a_capsule_is_taken_once_and_keeps_its_tensor(npu):
    gc.collect()
    before = len(device_capsules._held)
    capsule = mindtorch.ones(3).npu().__dlpack__(max_version=(1, 0))
    assert len(device_capsules._held) == before + 1
    assert mindtorch.from_dlpack(capsule).sum().item() == 3.0
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        mindtorch.from_dlpack(capsule)
    unused = mindtorch.ones(3).npu().__dlpack__()
    del unused, capsule
    gc.collect()
    assert len(device_capsules._held) == before


def test_what_is_refused(npu):
    x = mindtorch.ones(2).npu()
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        x.clone().requires_grad_().__dlpack__()
    with pytest.raises(RuntimeError, match="Unsupported device in DLTensor"):
        np.from_dlpack(x)
    with pytest.raises(ValueError, match="without copying"):
        x.__dlpack__(dl_device=(1, 0), copy=False)


@pytest.fixture
def generator(npu):
    return mindtorch.Generator("npu").manual_seed(7)


DRAWS = {
    "rand": lambda g: mindtorch.rand(3, device="npu", generator=g),
    "randn": lambda g: mindtorch.randn(3, device="npu", generator=g),
    "randint": lambda g: mindtorch.randint(9, (3,), device="npu", generator=g),
    "randint_low": lambda g: mindtorch.randint(2, 9, (3,), device="npu", generator=g),
    "randint_like": lambda g: mindtorch.randint_like(mindtorch.ones(3).npu(), 9, generator=g),
    "rand_like": lambda g: mindtorch.rand_like(mindtorch.ones(3).npu(), generator=g),
    "randperm": lambda g: mindtorch.randperm(5, device="npu", generator=g),
    "normal_": lambda g: mindtorch.empty(3, device="npu").normal_(generator=g),
    "bernoulli": lambda g: mindtorch.bernoulli(mindtorch.full((9,), 0.5, device="npu"), generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_draws_the_same_again(generator, name):
    first = DRAWS[name](generator).cpu()
    assert mindtorch.equal(DRAWS[name](generator.manual_seed(7)).cpu(), first)
    default = mindtorch.npu.get_rng_state()
    DRAWS[name](generator)
    assert mindtorch.equal(mindtorch.npu.get_rng_state(), default)


def test_state_is_seed_and_offset(generator):
    assert isinstance(generator, mindtorch.Generator)
    assert (str(generator.device), generator.initial_seed(), generator.get_offset()) == ("npu:0", 7, 0)
    assert generator.get_state().tolist() == [7, *[0] * 15]
    state, other = generator.get_state(), generator.clone_state()
    first = mindtorch.rand(5, device="npu", generator=generator)
    assert generator.get_offset() == 8
    assert mindtorch.equal(mindtorch.rand(5, device="npu", generator=other), first)
    assert mindtorch.equal(mindtorch.rand(5, device="npu", generator=generator.set_state(state)), first)
    shared = generator.graphsafe_get_state()
    mindtorch.rand(5, device="npu", generator=shared)
    assert shared.get_offset() == generator.get_offset() == 16
    generator.set_offset(4)
    assert pickle.loads(pickle.dumps(generator)).get_offset() == 4
    assert copy.deepcopy(generator).initial_seed() == 7
    with pytest.raises(RuntimeError, match="offset must be a multiple of 4"):
        generator.set_offset(3)
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        generator.set_state(mindtorch.zeros(3, dtype=mindtorch.uint8))


def test_generators_of_other_devices_are_refused(generator):
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'npu'"):
        mindtorch.rand(3, generator=generator)
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator but found 'cpu'"):
        mindtorch.rand(3, device="npu", generator=mindtorch.Generator())


def test_default_generators_are_the_devices(npu):
    mindtorch.npu.init()
    first, second = mindtorch.npu.default_generators
    first.manual_seed(3)
    drawn = mindtorch.rand(4, device="npu")
    assert first.get_offset() == 4
    first.manual_seed(3)
    assert mindtorch.equal(mindtorch.rand(4, device="npu", generator=first), drawn)
    assert str(second.device) == "npu:1"
