"""Tensor subclasses with `__torch_dispatch__` on both sides: made without memory, asked below autograd, wrapped again."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from .scenarios import Scenarios, assert_same, caught, logging_mode, part, wrapper_class

scenarios = Scenarios()


def handling(T: Any, name: str = "Handling") -> Any:
    """Return a class whose handler declines everything."""
    return type(name, (T.Tensor,), {"__torch_dispatch__": classmethod(lambda *args, **kwargs: NotImplemented)})


@scenarios.each(
    plain=lambda T: {}, dtype=lambda T: {"dtype": T.int32}, strides=lambda T: {"strides": (1, 2)},
    offset=lambda T: {"storage_offset": 4, "strides": (3, 1)}, meta=lambda T: {"device": "meta"},
    grad=lambda T: {"requires_grad": True}, format=lambda T: {"memory_format": T.contiguous_format},
    policy=lambda T: {"dispatch_sizes_strides_policy": "strides"}, layout=lambda T: {"layout": T.strided},
    pinned=lambda T: {"pin_memory": False}, storage=lambda T: {"storage_size": 0},
)  # fmt: skip
def made_without_memory(T, options):
    made = T.Tensor._make_wrapper_subclass(handling(T), (2, 3), **options(T))
    stride = made.stride() if "dispatch_sizes_strides_policy" not in options(T) else None
    return (
        type(made).__name__, made.shape, stride, made.storage_offset(), made.dtype, made.device, made.layout,
        made.requires_grad, made.is_leaf, made._version, made.numel(), made.untyped_storage().nbytes(),
    )  # fmt: skip


@scenarios.each(
    no_handler=lambda T: T.Tensor._make_wrapper_subclass(type("Bare", (T.Tensor,), {}), (2,)),
    disabled=lambda T: T.Tensor._make_wrapper_subclass(
        type("Off", (T.Tensor,), {"__torch_dispatch__": T._C._disabled_torch_dispatch_impl}), (2,)
    ),
    no_type=lambda T: T.Tensor._make_wrapper_subclass(3, (2,)),
    no_tensor=lambda T: T.Tensor._make_wrapper_subclass(int, (2,)),
    no_size=lambda T: T.Tensor._make_wrapper_subclass(handling(T)),
    nothing=lambda T: T.Tensor._make_wrapper_subclass(),
    unknown=lambda T: T.Tensor._make_wrapper_subclass(handling(T), (2,), foo=1),
    integral_grad=lambda T: T.Tensor._make_wrapper_subclass(handling(T), (2,), dtype=T.int64, requires_grad=True),
    policy=lambda T: T.Tensor._make_wrapper_subclass(handling(T), (2,), dispatch_sizes_strides_policy="foo"),
    strides=lambda T: T.Tensor._make_wrapper_subclass(handling(T), (2, 3), strides=(1,)),
    negative=lambda T: T.Tensor._make_wrapper_subclass(handling(T), (-2, 3)),
    subclass_of_int=lambda T: T.Tensor._make_subclass(int, T.ones(2)),
    subclass_of_number=lambda T: T.Tensor._make_subclass(handling(T), 3),
    subclass_integral=lambda T: T.Tensor._make_subclass(handling(T), T.ones(2).int(), True),
    as_int=lambda T: T.ones(2).as_subclass(int),
    as_number=lambda T: T.ones(2).as_subclass(3),
)
def refused(T, make):
    return caught(lambda: make(T))


@scenarios
def declined(T):
    value = T.Tensor._make_wrapper_subclass(handling(T), (2,))
    log = logging_mode(T)
    with log:
        seen = caught(lambda: T.exp(value))
    return (
        caught(lambda: T.add(value, T.ones(2))), caught(lambda: value + value), caught(lambda: value.add_(1)), seen, log.log
    )  # fmt: skip


@scenarios
def reading_what_is_not_there(T):
    value = T.Tensor._make_wrapper_subclass(handling(T), (2,))
    return caught(value.numpy), caught(value.tolist), value.data_ptr()


@scenarios
def geometry_that_the_class_answers(T):
    asked = []

    class Answers(T.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            asked.append(str(func))
            name = str(func)
            if "sym_size" in name:
                return [5, 7]
            if "sym_stride" in name:
                return [7, 1]
            if "dim" in name:
                return 2
            return NotImplemented

    value = T.Tensor._make_wrapper_subclass(Answers, (2, 3), dispatch_sizes_strides_policy="sizes")
    other = T.Tensor._make_wrapper_subclass(Answers, (2, 3))
    return (
        value.shape,
        value.size(),
        value.size(1),
        value.dim(),
        other.shape,
        [one for one in asked if "sym_size" in one][:1],
    )


@scenarios
def made_over_memory(T):
    kind = type("Named", (T.Tensor,), {})
    x = T.ones(2, requires_grad=True)
    one, other = T.Tensor._make_subclass(kind, x), T.Tensor._make_subclass(kind, x, True)
    third = x.as_subclass(kind)
    with T.no_grad():
        one.add_(1)
    return (
        type(one).__name__, one.requires_grad, other.requires_grad, other.is_leaf, third.requires_grad, third.grad_fn.name(),
        x.tolist(), x._version, one._version, type(one + 1).__name__, one.data_ptr() == x.data_ptr(),
    )  # fmt: skip


@scenarios.each(
    add=lambda T, x: x + x, number=lambda T, x: x * 2, total=lambda T, x: x.sum(), view=lambda T, x: x.view(-1)[1:],
    several=lambda T, x: x.split(1)[0], named=lambda T, x: x.max(0).values, matmul=lambda T, x: x @ x.t(),
    linear=lambda T, x: T.nn.functional.linear(x, x), mixed=lambda T, x: T.add(T.ones(2, 3), x),
    activation=lambda T, x: T.nn.functional.relu(x), listed=lambda T, x: T.cat([x, T.ones(2, 3)]),
    conversion=lambda T, x: x.to(T.float64), softmax=lambda T, x: T.softmax(x, -1), indexed=lambda T, x: x[0],
    detached=lambda T, x: x.detach(), data=lambda T, x: x.data, copied=lambda T, x: x.clone(), like=lambda T, x: T.zeros_like(x),
    stacked=lambda T, x: T.stack([x, x]), norm=lambda T, x: T.nn.functional.layer_norm(x, (3,)),
)  # fmt: skip
def results_are_wrapped(T, call):
    log: list[Any] = []
    kind = wrapper_class(T, log)
    made = call(T, kind(T.arange(6.0).reshape(2, 3)))
    return type(made).__name__, made.elem, made.shape, log


@scenarios
def gradients_are_wrapped(T):
    log: list[Any] = []
    kind = wrapper_class(T, log)
    x = kind(T.arange(6.0).reshape(2, 3), requires_grad=True)
    y = (x * x).sum()
    y.backward()
    return y.grad_fn.name(), type(x.grad).__name__, x.grad.elem, log


@scenarios
def the_handler_is_below_autograd(T):
    found = []

    class Seen(T.Tensor):
        @staticmethod
        def __new__(cls, elem):
            return T.Tensor._make_subclass(cls, elem, elem.requires_grad)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            plain = part(T, "utils._pytree").tree_map(
                lambda x: x.as_subclass(T.Tensor) if isinstance(x, Seen) and "alias" not in str(func) else x, args
            )
            if "alias" in str(func):
                with T._C._DisableTorchDispatch():
                    return func(*args)
            made = func(*plain, **(kwargs or {}))
            found.append((str(func), made.requires_grad, [kind.__name__ for kind in types]))
            return made

    x = Seen(T.ones(2, requires_grad=True))
    y = x * 3
    return found, y.requires_grad, y.grad_fn.name()


@scenarios
def two_tensors_in_one(T):
    tree_map = part(T, "utils._pytree").tree_map

    class Two(T.Tensor):
        __torch_function__ = T._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, a, b, requires_grad=False):
            return T.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, requires_grad=requires_grad)

        def __init__(self, a, b, requires_grad=False):
            self.a, self.b = a, b

        def __tensor_flatten__(self):
            return ["a", "b"], None

        @staticmethod
        def __tensor_unflatten__(inner, meta, size, stride):
            return Two(inner["a"], inner["b"])

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            first = func(*tree_map(lambda x: x.a if isinstance(x, Two) else x, args), **kwargs)
            second = func(*tree_map(lambda x: x.b if isinstance(x, Two) else x, args), **kwargs)
            made = Two(first, second) if isinstance(first, T.Tensor) else first
            return part(T, "utils._python_dispatch").return_and_correct_aliasing(func, args, kwargs, made)

    module = part(T, "utils._python_dispatch")
    x = Two(T.ones(2, 3), T.zeros(2, 3), requires_grad=True)
    y = (x + 1).t()[0].exp().sum()
    y.backward()
    z = Two(T.ones(2), T.zeros(2))
    same = z.add_(1)
    rebuilt = module.transform_subclass(z, lambda name, inner: inner * 10)
    return (
        y.a, y.b, x.grad.a, x.grad.b, same is z, z.a, z.b, z._version, rebuilt.a, rebuilt.b,
        module.is_traceable_wrapper_subclass(x), module.is_traceable_wrapper_subclass(x.a),
        module.is_traceable_wrapper_subclass_type(Two), module.is_traceable_wrapper_subclass_type(T.Tensor),
    )  # fmt: skip


@scenarios
def overrides_that_call_the_one_that_overrides_nothing(T):
    class Recorded(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            plain = T.nn.Parameter.__torch_function__(func, types, args, kwargs or {})
            return plain.as_subclass(cls) if func is T.nn.functional.linear else plain

    x = T.ones(1, 2).as_subclass(Recorded)
    disabled = T.nn.Parameter(T.ones(2)).__torch_function__
    return (
        type(x + 1).__name__, type(T.nn.functional.linear(x, T.ones(3, 2))) is Recorded, repr(disabled),
        disabled(T.add, (), (x, 1)), type(disabled(T.add, (), (x, 1))).__name__, caught(lambda: disabled(T.add)),
        caught(lambda: disabled(T.add, 1, 2, 3, 4)),
    )  # fmt: skip


@scenarios
def a_quantized_one_in_a_module(T):
    tree_map = part(T, "utils._pytree").tree_map

    class Quantized(T.Tensor):
        __torch_function__ = T._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, values, scale):
            return T.Tensor._make_wrapper_subclass(cls, values.shape, dtype=T.float32)

        def __init__(self, values, scale):
            self.values, self.scale = values, scale

        def real(self):
            return self.values.float() * self.scale

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if func is T.ops.aten.detach.default:
                return Quantized(args[0].values, args[0].scale)
            if func is T.ops.aten.t.default:
                return Quantized(args[0].values.t(), args[0].scale)
            return func(*tree_map(lambda x: x.real() if isinstance(x, Quantized) else x, args), **(kwargs or {}))

    weight = Quantized(T.tensor([[1, 2, 3], [4, 5, 6]], dtype=T.int8), 0.5)
    layer = T.nn.Linear(3, 2, bias=False)
    layer.weight = T.nn.Parameter(weight, requires_grad=False)
    x = T.ones(4, 3, requires_grad=True)
    made = layer(x)
    made.sum().backward()
    return made, x.grad, type(layer.weight).__name__, isinstance(layer.weight, T.nn.Parameter)


@scenarios
def modes_are_asked_before_subclasses(T):
    log: list[Any] = []
    kind = wrapper_class(T, log)
    mode = logging_mode(T)
    x = kind(T.ones(2))
    with mode:
        x + x
    return mode.log, log


@scenarios
def subclasses_are_asked_before_their_bases(T):
    order = []

    def handler(answer):
        def handle(cls, func, types, args=(), kwargs=None):
            order.append((cls.__name__, [kind.__name__ for kind in types]))
            return answer

        return classmethod(handle)

    base = type("Base", (T.Tensor,), {"__torch_dispatch__": handler(NotImplemented)})
    derived = type("Derived", (base,), {"__torch_dispatch__": handler(NotImplemented)})
    x = T.Tensor._make_wrapper_subclass(base, (2,))
    y = T.Tensor._make_wrapper_subclass(derived, (2,))
    return caught(lambda: T.add(x, y))[0], order


@scenarios
def copies_are_made_by_the_class(T):
    kind = wrapper_class(T)
    made = copy.deepcopy(kind(T.ones(2)))

    class Unwraps(kind):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*[arg.elem if isinstance(arg, Unwraps) else arg for arg in args], **(kwargs or {}))

    return type(made).__name__, made.elem, caught(lambda: copy.deepcopy(Unwraps(T.ones(2))))


@scenarios
def disabled_handlers_let_the_call_pass(T):
    kind = type("Quiet", (T.Tensor,), {"__torch_dispatch__": T._C._disabled_torch_dispatch_impl})
    value = T.ones(2).as_subclass(kind)
    loud = T.ones(2).as_subclass(handling(T)) if False else T.Tensor._make_subclass(handling(T), T.ones(2))
    with T._C._DisableTorchDispatch():
        passed = (loud + 1).tolist() if not isinstance(loud + 1, handling(T)) else None
    return type(value + 1).__name__, (value + 1).sum().item(), passed


@scenarios
def function_overrides_can_be_disabled(T):
    asked = []

    class Sub(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    class Mode(T.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            asked.append("mode " + func.__name__)
            return func(*args, **(kwargs or {}))

    x = T.ones(2).as_subclass(Sub)
    asked.clear()
    with Mode(), T._C.DisableTorchFunctionSubclass():
        T.add(x, x)
        inside = T._C._is_torch_function_enabled(), T._C._is_torch_function_all_disabled()
    with Mode(), T._C.DisableTorchFunction():
        T.add(x, x)
        wholly = T._C._is_torch_function_enabled(), T._C._is_torch_function_all_disabled()
    return asked, inside, wholly


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def test_a_tensor_without_memory_is_not_computed_with():
    """Torch reads past the end of no memory here; an error is better."""
    import mindtorch as mt

    value = mt.Tensor._make_wrapper_subclass(handling(mt), (2,))
    with mt._C._DisableTorchDispatch(), pytest.raises(RuntimeError, match="its data is not allocated yet"):
        mt.add(value, value)


def test_plans_of_plain_tensors_are_not_those_of_subclasses():
    import mindtorch as mt

    log: list[Any] = []
    kind = wrapper_class(mt, log)
    plain = mt.ones(2)
    for _ in range(3):
        assert type(mt.mul(plain, plain)) is mt.Tensor
        assert type(mt.mul(kind(plain), plain)) is kind
    assert log == ["aten.mul.Tensor"] * 3


def test_a_pipeline_records_what_handlers_call():
    import mindtorch as mt

    mode = logging_mode(mt)
    kind = wrapper_class(mt)
    with mt.pipeline() as pipe:
        with mode:
            x = mt.ones(3) * 2
        wrapped = kind(x) + 1
        assert len(pipe) > 0
        assert x._pending
        assert wrapped.elem._pending
    assert mode.log == ["aten.ones.default", "aten.mul.Tensor"]
    assert wrapped.elem.tolist() == [3.0, 3.0, 3.0]
    with mt.pipeline(), mode:
        assert (mt.ones(2) * 3).sum().item() == 6.0
