"""What a card refuses is refused by the simulator: in the same phase, with the code that the vendor's documents give.

161001 is a NULL where something is needed, 161002 a parameter that is excluded, 561103 a view beyond its storage, 507015 an
exception of the device's cores, which shows at the next wait; codes of the runtime are those of the failing call.
"""

from __future__ import annotations

import ctypes
import threading

import pytest

from mindtorch_npu import simulator

from ..misuses import (
    BOOL,
    D2H,
    DOUBLE,
    FLOAT,
    FLOAT16,
    H2D,
    INT8,
    INT32,
    INT64,
    NC1HWC0,
    NCHW,
    ND,
    UINT8,
    Host,
)  # fmt: skip

NULL, PARAMETER, STORAGE, KERNEL = 161001, 161002, 561103, 507015
SHAPE = (2, 3)


@pytest.fixture
def host(npu):
    made = Host(npu)
    yield made
    made.close()


def _overlapping(host: Host):
    block = host.memory(4096)
    return host.tensor((8,), data=block, storage=(16,)), host.tensor((8,), data=block, offset=4, storage=(16,))


def _conv(host: Host, *, form=NCHW, stride=(1, 1), groups=1, dtype=FLOAT):
    return (
        "Convolution", host.tensor((1, 2, 4, 4), form=form), host.tensor((2, 2, 3, 3), dtype, form=form), None,
        host.ints(*stride), host.ints(0, 0), host.ints(1, 1), False, host.ints(0, 0), groups,
        host.tensor((1, 2, 2, 2), form=form), 0,
    )  # fmt: skip


def _topk(host: Host, *, k=2, dim=1, ordered=True, indices=INT64, values=FLOAT):
    return "Topk", host.tensor(), k, dim, True, ordered, host.tensor((2, k), values), host.tensor((2, k), indices)


def _steps(host: Host, *, count=2, rate=0.1, amsgrad=False, shape=SHAPE, step=(1,)):
    def tensors(number, extents=SHAPE):
        return host.tensors(*(host.tensor(extents) for _ in range(number)))

    lists = tensors(2), tensors(count, shape), tensors(2), tensors(2), None, tensors(2, step), None, None
    return "FusedAdamw", *lists, rate, 0.9, 0.99, 0.0, 1e-8, amsgrad, False


def _rotary(host: Host, *, mode=0, heads=(1, 2, 3, 4), cos=(1, 2, 1, 4), sin=(1, 2, 1, 4)):
    given = (host.tensor(shape) for shape in (heads, cos, sin))
    return "RotaryPositionEmbedding", *given, mode, host.tensor(heads)


def _dropout(host: Host, *, share=0.5, bits=(16,), kind=UINT8):
    return "Dropout", host.tensor(), share, True, 1, 4, host.tensor(), host.tensor(bits, kind)


T = Host.tensor
PLANS = {
    # rank
    "a product of matrices with three dimensions": (PARAMETER, lambda h: ("Mm", T(h, (1, 2, 3)), T(h, (3, 2)), T(h, (2, 2)), 0)),
    "a batched product of matrices": (PARAMETER, lambda h: ("BatchMatMul", T(h, (2, 3)), T(h, (3, 2)), T(h, (2, 2)), 0)),
    "nine dimensions": (PARAMETER, lambda h: ("Abs", T(h, (1,) * 9), T(h, (1,) * 9))),
    "the largest of no dimension": (PARAMETER, lambda h: ("MaxDim", T(h, ()), 0, False, T(h, ()), T(h, (), INT64))),
    "a loss of no dimension": (PARAMETER, lambda h: ("MseLoss", T(h, ()), T(h, ()), 0, T(h, ()))),
    "a greatest divisor of no dimension": (PARAMETER, lambda h: ("Gcd", T(h, (), INT32), T(h, (), INT32), T(h, (), INT32))),
    "a bound of no dimension": (PARAMETER, lambda h: ("ClampMaxTensor", T(h, ()), T(h, ()), T(h, ()))),
    "the k-th of no dimension": (PARAMETER, lambda h: ("Kthvalue", T(h, ()), 1, 0, False, T(h, ()), T(h, (), INT64))),
    # format
    "a convolution of ND": (PARAMETER, lambda h: _conv(h, form=ND)),
    "an image layout on one dimension": (PARAMETER, lambda h: ("Abs", T(h, (4,), form=NC1HWC0), T(h, (4,)))),
    "NCHW on two dimensions": (PARAMETER, lambda h: ("Abs", T(h, SHAPE, form=NCHW), T(h))),
    "a format that there is not": (PARAMETER, lambda h: ("Abs", T(h, SHAPE, form=99), T(h))),
    # types
    "a type that the operator lacks": (PARAMETER, lambda h: ("BitwiseNot", T(h), T(h))),
    "matrices of two types": (PARAMETER, lambda h: ("Mm", T(h, SHAPE), T(h, (3, 2), FLOAT16), T(h, (2, 2)), 0)),
    "a sum of floats as integers": (PARAMETER, lambda h: ("Add", T(h), T(h), h.scalar(), T(h, SHAPE, INT32))),
    "a product of integers as bool": (PARAMETER, lambda h: ("Mul", T(h, SHAPE, INT32), T(h, SHAPE, INT32), T(h, SHAPE, BOOL))),
    "an image and a kernel of two types": (PARAMETER, lambda h: _conv(h, dtype=FLOAT16)),
    "the largest in another type": (PARAMETER, lambda h: _topk(h, values=FLOAT16)),
    "places as INT32": (PARAMETER, lambda h: _topk(h, indices=INT32)),
    "a cast to another type than named": (PARAMETER, lambda h: ("Cast", T(h), FLOAT16, T(h))),
    "a table and its rows of two types": (PARAMETER, lambda h: ("Embedding", T(h), T(h, (2,), INT64), T(h, (2, 3), FLOAT16))),
    "a step of four types": (
        PARAMETER,
        lambda h: (
            "ApplyAdamWV2", T(h), T(h, SHAPE, FLOAT16), T(h), None, T(h), T(h, (1,)), 0.1, 0.9, 0.99, 0.0, 1e-8, False, False,
        ),
    ),
    # NULL
    "no output": (NULL, lambda h: ("Abs", T(h), None)),
    "no input": (NULL, lambda h: ("Add", T(h), None, h.scalar(), T(h))),
    "no second output": (NULL, lambda h: ("MaxDim", T(h), 0, False, T(h, (3,)), None)),
    "no memory behind a tensor": (NULL, lambda h: ("Abs", T(h, SHAPE, data=0), T(h))),
    "a list with a hole": (NULL, lambda h: ("Cat", h.tensors(T(h), None), 0, T(h, (4, 3)))),
    # shapes
    "an output of another shape": (PARAMETER, lambda h: ("Abs", T(h), T(h, (3, 2)))),
    "shapes that do not broadcast": (PARAMETER, lambda h: ("Mul", T(h), T(h, (4,)), T(h))),
    "matrices that do not fit": (PARAMETER, lambda h: ("Mm", T(h), T(h), T(h, (2, 2)), 0)),
    "a sum that kept its dimension": (PARAMETER, lambda h: ("ReduceSum", T(h), h.ints(1), False, FLOAT, T(h, (2, 1)))),
    "a concatenation that is too short": (PARAMETER, lambda h: ("Cat", h.tensors(T(h), T(h)), 0, T(h, (3, 3)))),
    # layouts
    "an output whose elements are one": (PARAMETER, lambda h: ("Abs", T(h), T(h, SHAPE, strides=(0, 1), storage=(3,)))),
    "a view beyond its storage": (STORAGE, lambda h: ("Abs", T(h, SHAPE, strides=(4, 1), storage=(6,)), T(h))),
    "a view that starts too late": (PARAMETER, lambda h: ("Abs", T(h, SHAPE, offset=2, storage=(6,)), T(h))),
    "an output that overlaps an input": (PARAMETER, lambda h: ("Abs", *_overlapping(h))),
    "outputs that overlap": (PARAMETER, lambda h: ("MaxDim", T(h, (2, 8)), 0, False, (o := _overlapping(h))[0], o[1])),
    # limits of single operators
    "the largest in no order": (PARAMETER, lambda h: _topk(h, ordered=False)),
    "more of the largest than there are": (PARAMETER, lambda h: _topk(h, k=4)),
    "a dimension that there is not": (PARAMETER, lambda h: ("Softmax", T(h), 2, T(h))),
    "a stride of one number": (PARAMETER, lambda h: _conv(h, stride=(1,))),
    "a stride of zero": (PARAMETER, lambda h: _conv(h, stride=(0, 1))),
    "no groups": (PARAMETER, lambda h: _conv(h, groups=0)),
    "cubeMathType 9": (PARAMETER, lambda h: ("Mm", T(h), T(h, (3, 2)), T(h, (2, 2)), 9)),
    "a reduction 5": (PARAMETER, lambda h: ("MseLoss", T(h), T(h), 5, T(h))),
    "no permutation": (PARAMETER, lambda h: ("Permute", T(h), h.ints(0, 0), T(h))),
    "a random offset of 3": (PARAMETER, lambda h: ("InplaceBernoulli", T(h), h.scalar(0.5), 1, 3)),
    "fewer classes than none": (
        PARAMETER,
        lambda h: ("OneHot", T(h, (3,), INT64), -1, T(h, (1,), INT64), T(h, (1,), INT64), -1, T(h, (3, 0), INT64)),
    ),
    "an element dropped more often than always": (PARAMETER, lambda h: _dropout(h, share=1.5)),
    "a mask with too few bits": (PARAMETER, lambda h: _dropout(h, bits=(0,))),
    "a mask of floats": (PARAMETER, lambda h: _dropout(h, kind=FLOAT)),
    "a mask with too few bits for a gradient": (
        PARAMETER, lambda h: ("DropoutBackward", T(h, (20, 20)), T(h, (16,), UINT8), 2.0, T(h, (20, 20))),
    ),
    "a norm over other sizes than the last": (
        PARAMETER,
        lambda h: ("LayerNorm", T(h), h.ints(4), None, None, 1e-5, T(h), T(h, (2, 1)), T(h, (2, 1))),
    ),
    "a root mean square with other weights": (PARAMETER, lambda h: ("RmsNorm", T(h), T(h, (4,)), 1e-6, T(h), T(h, (2, 1)))),
    "a reciprocal root as FLOAT16": (
        PARAMETER, lambda h: ("RmsNorm", T(h), T(h, (3,)), 1e-6, T(h), T(h, (2, 1), FLOAT16)),
    ),
    "a sum in another type than named": (PARAMETER, lambda h: ("ReduceSum", T(h), h.ints(0), False, FLOAT16, T(h, (3,)))),
    "a running sum in another type than named": (PARAMETER, lambda h: ("Cumsum", T(h), 1, FLOAT16, T(h))),
    "half of an odd size": (PARAMETER, lambda h: ("SwiGlu", T(h), 1, T(h, (2, 1)))),
    "rotary positions of mode 7": (PARAMETER, lambda h: _rotary(h, mode=7)),
    "cosines of three dimensions": (PARAMETER, lambda h: _rotary(h, cos=(2, 1, 4), sin=(2, 1, 4))),
    "cosines and sines of two shapes": (PARAMETER, lambda h: _rotary(h, sin=(1, 1, 3, 4))),
    "rotary positions of an odd size": (
        PARAMETER, lambda h: _rotary(h, heads=(1, 2, 3, 5), cos=(1, 2, 1, 5), sin=(1, 2, 1, 5)),
    ),
    "more parameters than gradients": (PARAMETER, lambda h: _steps(h, count=1)),
    "a rate below zero": (PARAMETER, lambda h: _steps(h, rate=-0.1)),
    "a step of two numbers": (PARAMETER, lambda h: _steps(h, step=(2,))),
    "a gradient of another shape": (PARAMETER, lambda h: _steps(h, shape=(3, 2))),
    "amsgrad without the largest": (PARAMETER, lambda h: _steps(h, amsgrad=True)),
    "an index of two dimensions": (PARAMETER, lambda h: ("IndexSelect", T(h), 0, T(h, (1, 2), INT64), T(h))),
    "an approximation that there is not": (PARAMETER, lambda h: ("GeluV2", T(h), 5, T(h))),
    "uniform numbers from above": (PARAMETER, lambda h: ("InplaceUniform", T(h), 2.0, 1.0, 1, 4)),
    "a deviation below zero": (PARAMETER, lambda h: ("InplaceNormal", T(h), 0.0, -1.0, 1, 4)),
    "a chance above one": (PARAMETER, lambda h: ("InplaceBernoulli", T(h), h.scalar(1.5), 1, 4)),
    # descriptors of the wrong kind
    "a scalar as a tensor": (PARAMETER, lambda h: ("Abs", h.scalar(), T(h))),
    "a tensor as a list": (PARAMETER, lambda h: ("Cat", T(h), 0, T(h))),
}  # fmt: skip


@pytest.mark.parametrize("misuse", PLANS)
def test_the_first_phase_refuses(host, misuse):
    code, made = PLANS[misuse]
    assert host.call(*made(host)) == ("plan", code)
    assert simulator.machine().thread.message


def _null_executor(host):
    return host.run("Abs", None, 0, None)


def _twice(host):
    _, _, executor = host.plan("Abs", host.tensor(), host.tensor())
    assert host.run("Abs", None, 0, executor) == 0
    return host.run("Abs", None, 0, executor)


def _of_another(host):
    _, _, executor = host.plan("Abs", host.tensor(), host.tensor())
    return host.run("Neg", None, 0, executor)


def _no_workspace(host):
    _, size, executor = host.plan("Mm", host.tensor(), host.tensor((3, 2)), host.tensor((2, 2)), 0)
    return host.run("Mm", None, size, executor)


def _short_workspace(host):
    _, size, executor = host.plan("Mm", host.tensor(), host.tensor((3, 2)), host.tensor((2, 2)), 0)
    return host.run("Mm", host.memory(size), size - 1, executor)


def _workspace_over_the_output(host):
    block = host.memory(8192)
    _, size, executor = host.plan("Mm", host.tensor(), host.tensor((3, 2)), host.tensor((2, 2), data=block), 0)
    return host.run("Mm", block, size, executor)


def _destroyed_before(host):
    x = host.tensor()
    _, _, executor = host.plan("Abs", x, host.tensor())
    host.destroy("Tensor", x)
    return host.run("Abs", None, 0, executor)


def _stream_of_another_device(host):
    host.acl.rt.set_device(1)
    stream = host.acl.rt.create_stream()[0]
    host.acl.rt.set_device(0)
    _, _, executor = host.plan("Abs", host.tensor(), host.tensor())
    return host.run("Abs", None, 0, executor, stream)


def _in_a_thread_without_context(host):
    codes = []
    x, y = host.tensor(), host.tensor()
    thread = threading.Thread(target=lambda: codes.append(host.plan("Abs", x, y)[0]))
    thread.start(), thread.join()
    return codes[0]


def _scalar_destroyed_as_tensor(host):
    made = host.scalar()
    code = host.function("aclDestroyTensor", ctypes.c_int32, ctypes.c_void_p)(made)
    assert host.destroy("Scalar", made) == 0
    return code


def _destroyed_twice(host):
    made = host.tensor()
    assert host.destroy("Tensor", made) == 0
    return host.destroy("Tensor", made)


def _stream_destroyed_before(host):
    stream = host.acl.rt.create_stream()[0]
    assert host.acl.rt.destroy_stream(stream) == 0
    return host.acl.rt.record_event(host.acl.rt.create_event_ex_with_flag(1)[0], stream)


def _event_destroyed_before(host):
    event = host.acl.rt.create_event_ex_with_flag(1)[0]
    assert host.acl.rt.destroy_event(event) == 0
    return host.acl.rt.stream_wait_event(0, event)


def _pinned_freed_twice(host):
    pinned = host.acl.rt.malloc_host(64)[0]
    assert host.acl.rt.free_host(pinned) == 0
    return host.acl.rt.free_host(pinned)


def _timed_without_time(host):
    first, last = (host.acl.rt.create_event_ex_with_flag(1)[0] for _ in range(2))
    for event in (first, last):
        host.acl.rt.record_event(event, 0)
    host.acl.rt.synchronize_stream(0)
    return host.acl.rt.event_elapsed_time(first, last)[1]


def _recorded_twice(host):
    event = host.acl.rt.create_event()[0]
    assert host.acl.rt.record_event(event, 0) == 0
    return host.acl.rt.record_event(event, 0)


def _recorded_elsewhere(host):
    event = host.acl.rt.create_event_ex_with_flag(1)[0]
    host.acl.rt.set_device(1)
    return host.acl.rt.record_event(event, 0)


def _freed_twice(host):
    block = host.memory(64)
    assert host.acl.rt.free(block) == 0
    return host.acl.rt.free(block)


def _copied_too_much(host):
    buffer = ctypes.create_string_buffer(64)
    return host.acl.rt.memcpy(host.memory(32), 32, ctypes.addressof(buffer), 64, H2D)


def _copied_the_wrong_way(host):
    buffer = ctypes.create_string_buffer(32)
    return host.acl.rt.memcpy_async(host.memory(32), 32, ctypes.addressof(buffer), 32, D2H, 0)


CALLS = {
    "an executor that is NULL": (NULL, _null_executor),
    "an executor used twice": (NULL, _twice),
    "an executor of another operator": (NULL, _of_another),
    "no workspace": (NULL, _no_workspace),
    "a workspace that is too small": (NULL, _short_workspace),
    "a workspace over the output": (PARAMETER, _workspace_over_the_output),
    "a descriptor destroyed before the second phase": (PARAMETER, _destroyed_before),
    "a stream of another device": (107003, _stream_of_another_device),
    "a thread without context": (361001, _in_a_thread_without_context),
    "a scalar destroyed as a tensor": (PARAMETER, _scalar_destroyed_as_tensor),
    "a tensor destroyed twice": (PARAMETER, _destroyed_twice),
    "an event recorded twice": (207000, _recorded_twice),
    "an event recorded on another device's stream": (107003, _recorded_elsewhere),
    "a stream destroyed before": (100000, _stream_destroyed_before),
    "an event destroyed before": (100000, _event_destroyed_before),
    "the time of events without time": (107006, _timed_without_time),
    "the default stream destroyed": (100000, lambda host: host.acl.rt.destroy_stream(0)),
    "a stream of a priority that there is not": (107000, lambda host: host.acl.rt.create_stream_with_config(5, 3)[1]),
    "pinned memory freed twice": (100000, _pinned_freed_twice),
    "pinned memory freed as the device's": (100000, lambda host: host.acl.rt.free(host.acl.rt.malloc_host(64)[0])),
    "the device's memory freed as pinned": (100000, lambda host: host.acl.rt.free_host(host.memory(64))),
    "memory freed from its middle": (100000, lambda host: host.acl.rt.free(host.memory(128) + 64)),
    "no pinned memory": (100000, lambda host: host.acl.rt.malloc_host(0)[1]),
    "memory freed twice": (100000, _freed_twice),
    "a copy of more than there is room for": (107000, _copied_too_much),
    "a copy the wrong way": (107000, _copied_the_wrong_way),
}


@pytest.mark.parametrize("misuse", CALLS)
def test_the_call_refuses(host, misuse):
    code, call = CALLS[misuse]
    assert call(host) == code


def _held(host):
    """Return a gate that keeps the default stream from going on."""
    gate = threading.Event()
    host.machine.stream(0).enqueue(gate.wait)
    return gate


def _workspace_freed_at_once(host):
    gate = _held(host)
    _, size, executor = host.plan("Mm", host.tensor(), host.tensor((3, 2)), host.tensor((2, 2)), 0)
    workspace = host.memory(size)
    assert host.run("Mm", workspace, size, executor) == 0
    assert host.acl.rt.free(workspace) == 0
    return gate


def _input_freed_at_once(host):
    gate = _held(host)
    block = host.memory(64)
    _, _, executor = host.plan("Abs", host.tensor(data=block), host.tensor())
    assert host.run("Abs", None, 0, executor) == 0
    assert host.acl.rt.free(block) == 0
    return gate


def _pinned_freed_during_the_copy(host):
    gate = _held(host)
    pinned = host.acl.rt.malloc_host(64)[0]
    assert host.acl.rt.memcpy_async(host.memory(64), 64, pinned, 64, H2D, 0) == 0
    assert host.acl.rt.free_host(pinned) == 0
    return gate


def _input_of_another_device(host):
    host.acl.rt.set_device(1)
    block = host.memory(64)
    host.acl.rt.set_device(0)
    _, _, executor = host.plan("Abs", host.tensor(data=block), host.tensor())
    assert host.run("Abs", None, 0, executor) == 0


def _misaligned(host):
    _, _, executor = host.plan("Abs", host.tensor(data=host.memory(64) + 4), host.tensor())
    assert host.run("Abs", None, 0, executor) == 0


def _address_of_the_host(host):
    buffer = ctypes.create_string_buffer(64)
    _, _, executor = host.plan("Abs", host.tensor(data=ctypes.addressof(buffer) // 64 * 64), host.tensor())
    assert host.run("Abs", None, 0, executor) == 0


def _workspace(make):
    """Return a launch with a workspace that `make` returns of its size."""

    def call(host):
        _, size, executor = host.plan("Mm", host.tensor(), host.tensor((3, 2)), host.tensor((2, 2)), 0)
        assert host.run("Mm", make(host, size), size, executor) == 0

    return call


def _elsewhere(host, size):
    host.acl.rt.set_device(1)
    block = host.memory(size)
    host.acl.rt.set_device(0)
    return block


def _given_back(host, size):
    block = host.memory(size)
    host.acl.rt.free(block)
    return block


def _freed_before(host):
    block = host.memory(64)
    x = host.tensor(data=block)
    host.acl.rt.free(block)
    _, _, executor = host.plan("Abs", x, host.tensor())
    assert host.run("Abs", None, 0, executor) == 0


LATER = {
    "a workspace freed right after the launch": _workspace_freed_at_once,
    "an input freed right after the launch": _input_freed_at_once,
    "pinned memory freed during a copy": _pinned_freed_during_the_copy,
    "an input on another device": _input_of_another_device,
    "an address that is not aligned": _misaligned,
    "an address of the host": _address_of_the_host,
    "memory that was freed before": _freed_before,
    "a workspace on another device": _workspace(_elsewhere),
    "a workspace of the host": _workspace(lambda host, size: host.acl.rt.malloc_host(size)[0]),
    "a workspace that was freed before": _workspace(_given_back),
    "a workspace that is not aligned": _workspace(lambda host, size: host.memory(size + 64) + 4),
}


@pytest.mark.parametrize("misuse", LATER)
def test_the_device_refuses_and_the_next_wait_says_so(host, misuse):
    gate = LATER[misuse](host)
    if gate is not None:
        gate.set()
    code = host.acl.rt.synchronize_stream(0)
    assert (code, bool(host.acl.get_recent_err_msg())) == (KERNEL, True)


def test_there_are_a_hundred():
    assert len(PLANS) + len(CALLS) + len(LATER) >= 100


def test_what_is_neither_run_nor_destroyed_is_told(host):
    kept = host.tensor()
    _, _, executor = host.plan("Abs", kept, out := host.tensor())
    assert simulator.leaks() == ["2 descriptor(s) of kind Tensor", "1 executor(s) of aclnnAbs"]
    assert host.run("Abs", None, 0, executor) == 0
    assert host.destroy("Tensor", kept) == host.destroy("Tensor", out) == 0
    assert simulator.leaks() == []


def test_what_is_right_is_not_refused(host):
    assert host.call("Add", host.tensor(), host.tensor((3,)), host.scalar(), host.tensor()) == ("well", 0)
    x = host.tensor()
    assert host.call("Abs", x, x) == ("well", 0)
    assert host.call("Mul", host.tensor(SHAPE, INT8), host.tensor(SHAPE, INT32), host.tensor(SHAPE, DOUBLE)) == (
        "well",
        0,
    )
    assert host.call(*_conv(host)) == ("well", 0)
    assert host.call(*_topk(host)) == ("well", 0)
    column = host.tensor((2,), strides=(3,), storage=(6,))
    assert host.call("Neg", column, host.tensor((2,))) == ("well", 0)
