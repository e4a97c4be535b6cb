"""A mode of `__torch_function__` is asked about attributes of tensors, as torch's is."""

import threading

import pytest

import mindtorch

torch = pytest.importorskip("torch")

READS = (
    "shape dtype device grad requires_grad is_leaf data T mT H mH ndim is_cuda layout grad_fn names real _version output_nr "
    "is_sparse is_meta is_quantized _backward_hooks name retains_grad itemsize nbytes is_cpu is_nested _base imag"
).split()
WRITES = {"requires_grad": True, "grad": None, "_backward_hooks": None, "foo": 3, "shape": 3}


def _seen(side, program):
    seen = []

    class Watch(side.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            name = side.overrides.resolve_name(func) or func.__name__
            seen.append((name, [one.__name__ for one in types]))
            return func(*args, **(kwargs or {}))

    try:
        program(side, Watch)
    except (AttributeError, RuntimeError) as error:
        seen.append((type(error).__name__, str(error)))
    return seen


def _reading(name):
    def read(side, watch):
        value = side.ones(2, 3)
        with watch():
            getattr(value, name)

    return read


def _writing(name):
    def write(side, watch):
        value = side.ones(2, 3)
        with watch():
            setattr(value, name, WRITES[name])

    return write


def _deleting(side, watch):
    value = side.ones(2, 3)
    with watch():
        del value.grad


def _nested(side, watch):
    value = side.nn.Parameter(side.ones(2))
    with watch(), watch():
        assert value.shape == (2,)
    value.shape  # asks nobody


def _module(side, watch):
    layer = side.nn.Linear(2, 2)
    with watch():
        layer.weight.data.fill_(1)
        layer(side.ones(1, 2)).sum()


@pytest.mark.parametrize(
    "program",
    [_deleting, _nested, _module, *map(_reading, READS), *map(_writing, WRITES)],
    ids=lambda one: one.__qualname__,
)
def test_modes_see_attributes(program):
    assert _seen(mindtorch, program) == _seen(torch, program)


def test_a_getter_is_the_one_that_programs_compare_with():
    found = []

    class Watch(mindtorch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            found.append(func == mindtorch.Tensor.shape.__get__)
            return func(*args, **(kwargs or {}))

    with Watch():
        mindtorch.ones(1).shape
    assert found == [False, True]


def test_other_threads_and_what_comes_after_are_not_asked():
    class Refuse(mindtorch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise AssertionError(func)

    value = mindtorch.ones(2)
    before = vars(mindtorch.Tensor).get("shape"), mindtorch.Tensor.shape
    answers = []
    with Refuse():
        thread = threading.Thread(target=lambda: answers.append(value.shape))
        thread.start()
        thread.join()
    assert answers == [(2,)]
    assert (vars(mindtorch.Tensor).get("shape"), mindtorch.Tensor.shape) == before
    assert value.shape == (2,)


def test_a_mode_answers_for_an_attribute():
    class Half(mindtorch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func == mindtorch.Tensor.dtype.__get__:
                return mindtorch.float16
            return func(*args, **(kwargs or {}))

    with Half():
        assert mindtorch.ones(1).dtype is mindtorch.float16


def _subclass(side):
    class Kept(side.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with side._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))

    value = side.ones(2).as_subclass(Kept)
    value.grad = side.zeros(2)
    return tuple(value.shape), value.requires_grad, value.grad.tolist()


def test_a_subclass_that_switches_overrides_off_is_not_asked_again():
    assert _subclass(mindtorch) == _subclass(torch)
