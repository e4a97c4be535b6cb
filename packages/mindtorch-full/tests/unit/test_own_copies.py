"""Accelerators that are not there share their functions' code, and each has functions of its own."""

import inspect

import pytest

import mindtorch._absent.initialization
import mindtorch._absent.memory
import mindtorch._absent.random
import mindtorch.cuda
import mindtorch.xpu


def _names(module: object) -> list[str]:
    return [name for name, value in vars(module).items() if inspect.isfunction(value) and not name.startswith("_")]


@pytest.mark.parametrize("part", ["memory", "random"])
def test_each_accelerator_has_functions_of_its_own(part: str) -> None:
    shared = getattr(mindtorch._absent, part)
    for name in set(_names(shared)) - {"no_binding", "refuse"}:
        cuda, xpu = (getattr(getattr(module, part), name) for module in (mindtorch.cuda, mindtorch.xpu))
        assert cuda.__module__ == f"torch.cuda.{part}"
        assert xpu.__module__ == f"torch.xpu.{part}"
        assert cuda.__code__ is xpu.__code__ is getattr(shared, name).__code__


def test_a_copy_names_its_accelerator() -> None:
    assert inspect.signature(mindtorch.xpu.get_rng_state).parameters["device"].default == "xpu"
    assert inspect.signature(mindtorch.cuda.get_rng_state).parameters["device"].default == "cuda"
    with pytest.raises(AssertionError, match="Torch not compiled with XPU enabled"):
        mindtorch.xpu.mem_get_info()
    with pytest.raises(AttributeError, match="_cuda_resetPeakMemoryStats"):
        mindtorch.cuda.reset_peak_memory_stats()


def test_seeds_of_one_accelerator_are_not_those_of_another() -> None:
    """Each has its own queue of calls."""
    assert mindtorch.cuda._lazy.queue is not mindtorch.xpu._lazy.queue
    assert mindtorch.cuda._lazy.queue is mindtorch.cuda._lazy._lazy_call.__globals__["queue"]
