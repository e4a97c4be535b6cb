"""What native code trusts is looked at first: the parts of tensors, the number of dimensions, and its own exceptions."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mindtorch as mt
from mindtorch_cpu.native import module as native

pytestmark = pytest.mark.skipif(native is None, reason="the native module is not in use")


def call_add(tensor):
    return tensor + mt.ones(2, 3)


WRONG = {
    "_sig": ["abc", 5, None, [], mt.ones(2)],
    "_counter": [5, None, "abc", []],
    "_storage": ["abc", 5, []],
    "_view": ["abc", 5, []],
    "_meta": ["abc", 5, []],
}
USES = {
    "_sig": [call_add, lambda t: t.size(), lambda t: t[0, 0], lambda t: mt._foreach_mul_([t], 2.0)],
    "_counter": [lambda t: t.exp_(), lambda t: t.view(6)],
    "_storage": [lambda t: t.view(6), lambda t: t[0]],
    "_view": [lambda t: t.view(6)],
    "_meta": [call_add],
}


@pytest.mark.parametrize("slot", WRONG)
def test_a_wrong_part_of_a_tensor_is_an_error(slot):
    for use in USES[slot]:
        for wrong in WRONG[slot]:
            if wrong is None and slot in ("_storage", "_view", "_meta"):
                continue
            for _ in range(2):  # what is planned, and what was planned
                use(mt.ones(2, 3))
            tensor = mt.ones(2, 3, requires_grad=slot == "_meta")
            setattr(tensor, slot, wrong)
            with pytest.raises((TypeError, IndexError, AttributeError)):  # the last two from Python code
                use(tensor)


@pytest.mark.parametrize("wrong", ["abc", 5, [], np.ones(6)])
def test_a_wrong_signature_is_named(wrong):
    tensor = mt.ones(2, 3)
    call_add(tensor)
    tensor._sig = wrong
    with pytest.raises(TypeError, match=rf"_sig' cannot be of type '(numpy.)?{type(wrong).__name__}'"):
        tensor.size()


@pytest.mark.parametrize("wrong", ["abc", np.ones(6), np.ones((2, 3), dtype=object), 5])
def test_an_array_that_does_not_fit_is_not_read_beyond_its_end(wrong):
    tensor = mt.ones(2000, 3)
    (tensor + tensor).sum()
    tensor._array = wrong
    for use in (
        lambda t: t + mt.ones(2000, 3),
        lambda t: t.sort(),
        lambda t: t.softmax(1),
        lambda t: t @ mt.ones(3, 2),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            use(tensor)


def test_a_variable_of_a_graph_that_is_no_tensor_is_a_type_error():
    leaf = mt.ones(3, requires_grad=True)
    result = (leaf * 2).sum()
    node = result.grad_fn.next_functions[0][0].next_functions[0][0]
    node.variable = "abc"
    with pytest.raises((TypeError, AttributeError)):
        result.backward()


@pytest.mark.parametrize("ndim", [39, 40, 41, 50, 63, 64])
def test_as_many_dimensions_as_numpy_has(ndim):
    shape = [1] * (ndim - 2) + [2, 3]
    tensor = mt.arange(6.0).reshape(shape).requires_grad_()
    index = mt.zeros(shape, dtype=mt.int64)
    assert tensor.clone().shape == mt.Size(shape)
    assert mt.cat([tensor, tensor], -1).flatten()[:6].tolist() == [0, 1, 2, 0, 1, 2]
    assert tensor.gather(-1, index).flatten().tolist() == [0, 0, 0, 3, 3, 3]
    assert tensor.transpose(0, -1).contiguous().flatten().tolist() == [0, 3, 1, 4, 2, 5]
    assert tensor.flip(-1).roll(1, -1).flatten().tolist() == [0, 2, 1, 3, 5, 4]
    assert tensor.repeat([1] * (ndim - 1) + [2]).flatten()[:6].tolist() == [0, 1, 2, 0, 1, 2]
    assert tensor.double().to(mt.int32).sum(-1).flatten().tolist() == [3, 12]
    padded = mt.nn.functional.pad(tensor, [0, 0] * (ndim - 1) + [1, 0]) if ndim < 64 else None
    assert padded is None or padded.numel() == 12
    (tensor * 2).exp().sum().backward()
    assert tensor.grad.shape == mt.Size(shape)


def run_child(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
def test_memory_that_cannot_be_had_within_native_code_is_an_error():
    done = run_child(
        """
        import resource
        import mindtorch as mt
        from mindtorch_cpu.native import module
        numbers = (0.0,) * (1 << 24)
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), before[1]))
        if resource.getrlimit(resource.RLIMIT_AS) == before:
            raise SystemExit("this system keeps no limit of memory")
        try:
            module.chain(b"", ([],), numbers)
        except RuntimeError as error:
            print("DefaultCPUAllocator: can't allocate memory" in str(error))
        resource.setrlimit(resource.RLIMIT_AS, before)
        print((mt.ones(2) + 1).tolist())
        """
    )
    if "keeps no limit" in done.stderr:
        pytest.skip("memory cannot be limited: qemu's processes take a limit and ignore it")
    assert (done.returncode, done.stdout) == (0, "True\n[2.0, 2.0]\n"), done.stderr
