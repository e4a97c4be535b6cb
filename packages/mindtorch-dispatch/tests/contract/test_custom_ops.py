"""`custom_op`, `infer_schema` and what is registered for an operator, against torch."""

import collections.abc
import importlib
import typing

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def sine(T, annotation=None):
    def foo(x):
        return x.sin()

    foo.__annotations__ = {"x": T.Tensor, "return": T.Tensor}
    return foo


def custom(T, ns, function=None, **options):
    options.setdefault("mutates_args", ())
    return T.library.custom_op(f"{ns}::op", function or sine(T), **options)


@scenarios.each(bare="foo", three="a::b::c", no_name="aa::", space="aa::foo bar", reserved="prim::foo")
def names(T, ns, name):
    return T.library.custom_op(name, sine(T), mutates_args=())


@scenarios
def facts(T, ns):
    op = custom(T, ns)
    names = [
        repr(op),
        op._qualname,
        op._name,
        op._namespace,
        op._opoverload,
        op._opoverload.tags,
        op._opoverload._schema,
    ]
    return [str(name).replace(ns, "") for name in names]


@scenarios
def decorated(T, ns):
    op = T.library.custom_op(f"{ns}::op", mutates_args=())(sine(T))
    return op(T.ones(2)), getattr(T.ops, ns).op(T.ones(2)), op(x=T.ones(2))


@scenarios
def overloads_of_one_name(T, ns):
    one, two = (T.library.custom_op(f"{ns}::op{o}", sine(T), mutates_args=()) for o in ("", ".other"))
    return getattr(T.ops, ns).op.overloads(), one(T.ones(1)), two(T.ones(1))


@scenarios
def defined_again(T, ns):
    custom(T, ns)
    return T.library.custom_op(f"{ns}::op", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor")(T.ones(1))


@scenarios
def without_mutates_args(T, ns):
    return T.library.custom_op(f"{ns}::op", sine(T))


@scenarios.each(number=3, text="a", none=None)
def wrong_arguments(T, ns, value):
    return custom(T, ns)(value)


@scenarios
def gradients_without_a_formula(T, ns):
    op = custom(T, ns)
    result = op(T.ones(2, requires_grad=True))
    return result.requires_grad, type(result.grad_fn).__name__.replace(ns, ""), caught(lambda: result.sum().backward())


@scenarios
def meta_without_a_rule(T, ns):
    return custom(T, ns)(T.ones(2, device="meta"))


@scenarios.each(cpu="cpu", cuda="cuda", several=("cpu", "cuda"), unknown="nope", number=3)
def device_types(T, ns, given):
    return custom(T, ns, device_types=given)(T.ones(2))


@scenarios
def a_kernel_replaces_the_first(T, ns):
    op = custom(T, ns, device_types="cpu")
    op.register_kernel("cpu")(lambda x: x.cos())
    first = op(T.ones(1))
    with op.set_kernel_enabled("cpu", False):
        off = op(T.ones(1))
    return first, off, op(T.ones(1)), caught(lambda: op.register_kernel("nope")(lambda x: x))


@scenarios
def rules_of_geometry(T, ns):
    op = custom(T, ns)
    op.register_fake(lambda x: T.empty_like(x))
    first = op(T.ones(2, device="meta"))
    op.register_fake(lambda x: x.new_empty(3))
    return first, op(T.ones(2, device="meta"))


@scenarios
def sizes_that_depend_on_values(T, ns):
    op = custom(T, ns)
    op.register_fake(lambda x: x.new_empty(T.library.get_ctx().new_dynamic_size()))
    return op(T.ones(2, device="meta"))


@scenarios.each(
    same=lambda x: x,
    view=lambda x: x.view(-1),
    part=lambda x: x[:1],
    detached=lambda x: x.detach(),
    fresh=lambda x: x.clone(),
)
def results_may_not_be_inputs(T, ns, function):
    function.__name__ = "function"
    return custom(T, ns, function, schema="(Tensor x) -> Tensor")(T.ones(2))


@scenarios
def results_may_not_be_one(T, ns):
    def twice(x):
        y = x.clone()
        return y, y

    return custom(T, ns, twice, schema="(Tensor x) -> (Tensor, Tensor)")(T.ones(2))


@scenarios.each(number=3, none=None, tuple=(1,))
def results_that_are_no_tensors(T, ns, value):
    return custom(T, ns, lambda x: value, schema="(Tensor x) -> Tensor")(T.ones(2))


def writing(T, ns, function, names=("x",)):
    return custom(T, ns, function, mutates_args=names, schema=f"(Tensor{'(a!)' if names else ''} x) -> ()")


@scenarios.each(
    declared=(lambda x: x.sin_() and None, ("x",)),
    in_numpy=(lambda x: x.detach().numpy().fill(5), ("x",)),
    not_at_all=(lambda x: None, ("x",)),
    secretly=(lambda x: x.sin_() and None, ()),
)
def writes_are_counted(T, ns, case):
    function, names = case
    run = lambda x: (function(x), None)[1]  # noqa: E731
    op = writing(T, ns, run, names)
    x = T.zeros(2) + 1
    before = x._version
    return op(x), x, x._version - before


@scenarios.each(written=("x",), unknown="unknown", none=())
def schemas_given_must_agree(T, ns, names):
    return bool(custom(T, ns, lambda x: x.clone(), mutates_args=names, schema="(Tensor x) -> Tensor"))


@scenarios
def a_backward_is_used(T, ns):
    seen = []
    op = custom(T, ns)

    def setup(ctx, inputs, output):
        seen.append((inputs, output))
        ctx.save_for_backward(*inputs)

    op.register_autograd(lambda ctx, g: g * 2 * ctx.saved_tensors[0], setup_context=setup)
    x = T.full((2,), 3.0, requires_grad=True)
    result = op(x)
    result.sum().backward()
    return result.tolist(), x.grad, seen, op(T.ones(1)), len(seen)


@scenarios
def a_backward_without_a_context(T, ns):
    op = custom(T, ns)
    op.register_autograd(lambda ctx, g: g * 4)
    x = T.ones(2, requires_grad=True)
    op(x).sum().backward()
    return x.grad


@scenarios
def a_backward_with_too_many_gradients(T, ns):
    op = custom(T, ns)
    op.register_autograd(lambda ctx, g: (g, g))
    return caught(lambda: op(T.ones(2, requires_grad=True)).sum().backward())[1].replace(ns, "")


SEVERAL = "(Tensor x, Tensor[] l, int k, float f=1.5, *, float s=2.) -> (Tensor, Tensor)"


@scenarios.each(default={"f": 3.0}, given={"f": 3.0, "s": 4.0})
def a_backward_of_lists_and_keywords(T, ns, kwargs):
    seen = []
    op = custom(T, ns, lambda x, l, k, f=1.5, *, s=2.0: (x.sin() * f, l[0] * k * s), schema=SEVERAL)  # noqa: E741

    def setup(ctx, inputs, keyword_only_inputs, output):
        seen.append((len(inputs), inputs[2:], keyword_only_inputs, ctx.needs_input_grad[:5]))

    def backward(ctx, one, other):
        return one, [other * 3, None], None, None

    op.register_autograd(backward, setup_context=setup)
    x, first = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    result = op(x, [first, T.ones(2)], 3, **kwargs)
    (result[0] + result[1]).sum().backward()
    return x.grad, first.grad, seen, [one.detach() for one in result]


@scenarios
def a_backward_of_a_list_result(T, ns):
    op = custom(T, ns, lambda x: [x.sin(), x.cos()], schema="(Tensor x) -> Tensor[]")
    op.register_autograd(lambda ctx, grads: grads[0] * 2 + grads[1] * 3)
    x = T.ones(2, requires_grad=True)
    result = op(x)
    sum(one.sum() for one in result).backward()
    return type(result).__name__, x.grad


@scenarios
def nothing_is_recorded_under_no_grad(T, ns):
    op = custom(T, ns)
    with T.no_grad():
        return op(T.ones(1, requires_grad=True))


@scenarios
def what_a_kernel_calls_is_not_recorded(T, ns):
    recorded = []

    def function(x):
        y = x * 2
        recorded.append(y.requires_grad)
        return y

    custom(T, ns, function, schema="(Tensor x) -> Tensor")(T.ones(1, requires_grad=True))
    return recorded


@scenarios
def no_backward_for_operators_that_write(T, ns):
    op = writing(T, ns, lambda x: None)
    return caught(lambda: op.register_autograd(lambda ctx, g: g))[1].replace(ns, "")


@scenarios
def no_tensors_but_a_device(T, ns):
    op = custom(T, ns, lambda k, device: T.ones(k), device_types="cpu", schema="(int k, Device device) -> Tensor")
    return op(3, "cpu"), caught(lambda: op(3, T.device("meta")))


@scenarios.each(all=None, cpu="cpu")
def no_tensors(T, ns, given):
    return custom(T, ns, lambda k: T.ones(k), device_types=given, schema="(int k) -> Tensor")(2)


@scenarios
def casts(T, ns):
    op = custom(T, ns, lambda x, l: x + l[0], schema="(Tensor x, Tensor[] l) -> Tensor")  # noqa: E741
    op.register_autocast("cpu", T.bfloat16)
    with T.autocast("cpu"):
        on = op(T.ones(1), [T.ones(1)]).dtype, op(T.ones(1, dtype=T.int64), [T.ones(1, dtype=T.int64)]).dtype
    return on, op(T.ones(1), [T.ones(1)]).dtype


@scenarios.each(unknown="nope", number=3)
def casts_need_a_device_type(T, ns, given):
    return custom(T, ns).register_autocast(given, T.bfloat16)


@scenarios
def casts_of_a_librarys_operator(T, ns):
    lib = T.library.Library(ns, "DEF")
    lib.define("op(Tensor x) -> Tensor")
    lib.impl("op", lambda x: x * 2, "CPU")
    T.library.register_autocast(f"{ns}::op", "cpu", T.float16, lib=lib)
    with T.autocast("cpu"):
        return getattr(T.ops, ns).op(T.ones(2))


REGISTERING = {
    "kernel": lambda T, op: T.library.register_kernel(op, "cpu", lambda x: x),
    "fake": lambda T, op: T.library.register_fake(op, lambda x: x) and None,
    "autograd": lambda T, op: T.library.register_autograd(op, lambda ctx, g: g),
    "autocast": lambda T, op: T.library.register_autocast(op, "cpu", T.bfloat16) and None,
    "torch_dispatch": lambda T, op: T.library.register_torch_dispatch(op, T.Tensor, lambda *a: a) and None,
    "vmap": lambda T, op: T.library.register_vmap(op, lambda *a: a),
}
WRONG = {"bare": "nope", "three": "a::b::c", "number": 3, "function": len}


@scenarios.each(**{f"{how}_{name}": (how, op) for how in REGISTERING for name, op in WRONG.items()})
def registering_for_what_is_no_operator(T, ns, case):
    return REGISTERING[case[0]](T, case[1])


@scenarios.each(autograd="autograd", autocast="autocast", vmap="vmap")
def registering_for_an_unknown_operator(T, ns, how):
    keep = custom(T, ns)
    return caught(lambda: REGISTERING[how](T, f"{ns}::unknown")), keep is None


@scenarios.each(view="(Tensor(a) x) -> Tensor(a)", write="(Tensor(a!) x) -> ()", nothing="(Tensor x) -> ()")
def backward_of_a_librarys_operator_needs_a_function(T, ns, schema):
    T.library.define(f"{ns}::op", schema)
    return caught(lambda: T.library.register_autograd(f"{ns}::op", lambda ctx, g: g))[1].replace(ns, "")


@scenarios
def backward_of_a_librarys_operator(T, ns):
    lib = T.library.Library(ns, "DEF")
    lib.define("op(Tensor x, int k=2) -> Tensor")
    lib.impl("op", lambda x, k=2: x * k, "CPU")
    T.library.register_autograd(f"{ns}::op", lambda ctx, g: (g * 10 * ctx.k, None), lib=lib,
                                setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1]))  # fmt: skip
    x = T.ones(2, requires_grad=True)
    op = getattr(T.ops, ns).op
    return T.autograd.grad(op(x).sum(), x), T.autograd.grad(op(x, 5).sum(), x), op(T.ones(1))


@scenarios
def a_handler_for_a_mode(T, ns):
    base = importlib.import_module(f"{T.__name__}.utils._python_dispatch").TorchDispatchMode

    class Mode(base):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    op = custom(T, ns)
    op.register_torch_dispatch(
        Mode, lambda mode, func, types, args=(), kwargs=None: func(*args, **(kwargs or {})) + 100
    )
    with Mode():
        on = op(T.zeros(2))
    return on, op(T.zeros(2))


TENSORS = {
    "tensor": lambda T: T.Tensor,
    "optional": lambda T: typing.Optional[T.Tensor],  # noqa: UP045
    "sequence": lambda T: typing.Sequence[T.Tensor],
    "list": lambda T: typing.List[T.Tensor],  # noqa: UP006
    "abc_sequence": lambda T: collections.abc.Sequence[T.Tensor],
    "builtin_list": lambda T: list[T.Tensor],
    "optional_items": lambda T: typing.List[typing.Optional[T.Tensor]],  # noqa: UP006, UP045
    "new_optional": lambda T: T.Tensor | None,
    "optional_list": lambda T: typing.Optional[typing.List[T.Tensor]],  # noqa: UP006, UP045
    "parameter": lambda T: T.nn.Parameter,
    "dtype": lambda T: T.dtype,
    "optional_dtype": lambda T: T.dtype | None,
    "device": lambda T: T.device,
    "optional_device": lambda T: T.device | None,
    "number": lambda T: T.types.Number,
    "dtypes": lambda T: typing.Sequence[T.dtype],
    "layout": lambda T: T.layout,
    "text": lambda T: "T.Tensor",
}
SCALARS = (int, float, bool, str)
PLAIN = {one.__name__: one for one in SCALARS}
PLAIN |= {f"optional_{one.__name__}": one | None for one in SCALARS}
PLAIN |= {f"list_{one.__name__}": list[one] for one in SCALARS}
PLAIN |= {f"sequence_{one.__name__}": typing.Sequence[one] for one in SCALARS}
PLAIN |= {f"optional_list_{one.__name__}": list[one] | None for one in SCALARS}
PLAIN |= {
    "complex": complex, "dict": dict, "object": object, "any": typing.Any, "pair": tuple[int, int], "bytes": bytes,
    "tuple": tuple[int, ...], "lists": list[list[int]], "number": int | float | bool, "mixed": int | float,
    "mixed_pair": tuple[int, float], "iterable": typing.Iterable[int], "nothing": None,
}  # fmt: skip


def annotated(T, annotation, returns, **defaults):
    def function(x): ...

    function.__annotations__ = {"x": annotation, "return": returns}
    function.__defaults__ = tuple(defaults.values()) or None
    return function


@scenarios.each(**TENSORS)
def parameters(T, ns, annotation):
    return T.library.infer_schema(annotated(T, annotation(T), T.Tensor), mutates_args=())


@scenarios.each(**PLAIN)
def plain_parameters(T, ns, annotation):
    return T.library.infer_schema(annotated(T, annotation, T.Tensor), mutates_args=())


@scenarios.each(
    tensor=lambda T: T.Tensor, list=lambda T: typing.List[T.Tensor], pair=lambda T: tuple[T.Tensor, T.Tensor],  # noqa: UP006
    mixed=lambda T: tuple[T.Tensor, int], int=lambda T: int, float=lambda T: float, bool=lambda T: bool,
    none=lambda T: None, number=lambda T: T.types.Number, nothing=lambda T: tuple[()],
    lists=lambda T: tuple[list[T.Tensor], T.Tensor],
)  # fmt: skip
def results(T, ns, annotation):
    return T.library.infer_schema(annotated(T, T.Tensor, annotation(T)), mutates_args=())


@scenarios.each(sequence=typing.Sequence[int], text=str, complex=complex, any=typing.Any, dict=dict, ints=list[int])
def results_without_a_type(T, ns, annotation):
    return caught(lambda: T.library.infer_schema(annotated(T, T.Tensor, annotation), mutates_args=()))[1].partition(
        " The"
    )


@scenarios.each(
    int=(int, 3), float=(float, 1e-5), whole=(float, 1), bool=(bool, True), text=(str, "abc"), quote=(str, 'a"b'),
    none=(int | None, None), infinite=(float, float("inf")), list=(list[int], [1]), tuple=(list[int], (1,)),
    other=(int, "a"), number=(int | float | bool, 2.5),
)  # fmt: skip
def defaults(T, ns, case):
    return T.library.infer_schema(annotated(T, case[0], T.Tensor, x=case[1]), mutates_args=())


@scenarios
def defaults_of_torchs_types(T, ns):
    given = [(T.dtype, T.float32), (T.dtype | None, T.float16), (T.device, T.device("cpu")), (T.device, "cpu")]
    return [T.library.infer_schema(annotated(T, kind, T.Tensor, x=one), mutates_args=()) for kind, one in given]


def written(x, y, z, l, o): ...  # noqa: E741


@scenarios.each(
    none=(), one=("x",), two=["x", "y"], set={"x"}, unknown="unknown", number=("z",), missing=("nope",), listed=("l",),
    optional=("o",), text="x", no=None, three=3,
)  # fmt: skip
def mutated_arguments(T, ns, names):
    kinds = [T.Tensor, T.Tensor, int, list[T.Tensor], T.Tensor | None, None]
    written.__annotations__ = dict(zip(("x", "y", "z", "l", "o", "return"), kinds, strict=True))
    return T.library.infer_schema(written, mutates_args=names)


@scenarios.each(
    unannotated=lambda x: x,
    positional=lambda x, /: x,
    several=lambda *x: x,
    keywords=lambda **x: x,
    number=3,
)
def functions_without_a_schema(T, ns, function):
    return T.library.infer_schema(function, mutates_args=())


@scenarios
def names_and_keywords(T, ns):
    def function(self, *, device, from_=1): ...

    function.__annotations__ = {"self": T.Tensor, "device": T.device, "from_": int, "return": T.Tensor}
    return [T.library.infer_schema(function, mutates_args=(), op_name=name) for name in (None, "foo", "ns::foo.bar")]


@scenarios
def annotations_that_name_nothing(T, ns):
    return T.library.infer_schema(annotated(T, "Nope", T.Tensor), mutates_args=())


@scenarios
def results_without_annotation(T, ns):
    def function(x): ...

    function.__annotations__ = {"x": T.Tensor}
    return T.library.infer_schema(function, mutates_args=())


@scenarios
def writes_alone(T, ns):
    """An operator that writes its arguments and returns nothing needs no fake: there is nothing to describe."""

    def foo(x, out):
        out.copy_(x.sin())

    foo.__annotations__ = {"x": T.Tensor, "out": T.Tensor, "return": None}
    op = custom(T, ns, foo, mutates_args={"out"})
    out, meta = T.zeros(2), T.zeros(2, device="meta")
    checked = T.library.opcheck(op, (T.ones(2), T.zeros(2)), test_utils=("test_schema", "test_faketensor"))
    return op(T.ones(2), out), out, op(meta, meta), checked


@scenarios
def compiled_with_a_backward(T, ns):
    """What a compiled function returns straight from the operator still has its gradient."""
    op = custom(T, ns)
    op.register_fake(lambda x: T.empty_like(x))
    op.register_autograd(
        lambda ctx, grad: grad * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = T.arange(3.0).requires_grad_()
    made = T.compile(lambda x: op(x), backend="eager")(x) if T.__name__ == "torch" else T.compile(lambda x: op(x))(x)
    made.sum().backward()
    return made.requires_grad, made, x.grad
