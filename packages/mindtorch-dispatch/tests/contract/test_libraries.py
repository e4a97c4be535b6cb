"""`Library`, `define`, `impl`, fallbacks and unloading, against torch."""

import gc

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def library(T, ns, kind="DEF", *key):
    return T.library.Library(ns, kind, *key)


def made(T, ns, schema="op(Tensor x) -> Tensor", **kernels):
    lib = library(T, ns)
    lib.define(schema)
    for key, kernel in kernels.items():
        lib.impl(schema.partition("(")[0], kernel, key)
    return lib, getattr(getattr(T.ops, ns), schema.partition("(")[0])


@scenarios.each(
    name=lambda lib: lib.define("foo(Tensor x) -> Tensor"),
    overload=lambda lib: lib.define("foo.bar(Tensor x) -> Tensor"),
    twice=lambda lib: [lib.define("foo(Tensor x) -> Tensor") for _ in range(2)],
    twice_differently=lambda lib: [
        lib.define(s) for s in ("foo(Tensor x) -> Tensor", "foo(Tensor x, int y) -> Tensor")
    ],
    overloads=lambda lib: [lib.define(s) for s in ("foo(Tensor x) -> Tensor", "foo.b(Tensor x, int y) -> Tensor")],
    other_namespace=lambda lib: lib.define("elsewhere::foo(Tensor x) -> Tensor"),
    own_namespace=lambda lib: lib.define(f"{lib.ns}::foo(Tensor x) -> Tensor").partition("::")[2],
    no_arguments=lambda lib: lib.define("foo"),
    unclosed=lambda lib: lib.define("foo(Tensor x"),
    unknown_type=lambda lib: lib.define("foo(Nope x) -> Tensor"),
    no_returns=lambda lib: lib.define("foo(Tensor x)"),
    returns_nothing=lambda lib: lib.define("foo(Tensor x) -> ()"),
    bad_default=lambda lib: lib.define("foo(int x=abc) -> Tensor"),
    alias_analysis=lambda lib: lib.define("foo(Tensor x) -> Tensor", "CONSERVATIVE"),
    bad_alias_analysis=lambda lib: lib.define("foo(Tensor x) -> Tensor", "NOPE"),
)
def define(T, ns, call):
    return call(library(T, ns))


@scenarios.each(
    DEF="DEF", FRAGMENT="FRAGMENT", IMPL="IMPL", unknown="NOPE", empty="",
)  # fmt: skip
def kinds(T, ns, kind):
    return repr(library(T, ns, kind)).replace(ns, "")


@scenarios.each(prim="prim", aten="aten", prims="prims")
def second_definition_of_a_namespace_of_torch(T, ns, name):
    return caught(lambda: library(T, name))[0] if name != "prim" else library(T, name)


@scenarios
def second_definition(T, ns):
    keep = library(T, ns)
    return caught(lambda: library(T, ns)), repr(keep)


@scenarios
def definition_after_the_first_one_is_destroyed(T, ns):
    library(T, ns)._destroy()
    return bool(library(T, ns))


@scenarios.each(none=(), one="pointwise", several=("core", "pointwise"))
def tags(T, ns, names):
    lib = library(T, ns)
    given = getattr(T.Tag, names) if isinstance(names, str) else [getattr(T.Tag, name) for name in names]
    lib.define("op(Tensor x) -> Tensor", tags=given)
    return getattr(T.ops, ns).op.default.tags


@scenarios
def fragments_may_be_several(T, ns):
    libs = [library(T, ns, "FRAGMENT") for _ in range(3)]
    return [lib.define(f"op{i}(Tensor x) -> Tensor") for i, lib in enumerate(libs)]


@scenarios
def fragment_of_the_wildcard_namespace(T, ns):
    return library(T, "_", "FRAGMENT")


@scenarios
def fragment_beside_a_definition(T, ns):
    first, second = library(T, ns), library(T, ns, "FRAGMENT")
    second.define("op(Tensor x) -> Tensor")
    first.impl("op", lambda x: x + 1, "CPU")
    return getattr(T.ops, ns).op(T.ones(2))


@scenarios
def fragment_of_aten(T, ns):
    lib = library(T, "aten", "FRAGMENT")
    lib.define(f"{ns}probe(Tensor x) -> Tensor")
    lib.impl(f"{ns}probe", lambda x: x * 2, "CPU")
    found = getattr(T.ops.aten, f"{ns}probe")(T.ones(2))
    lib._destroy()
    return found, hasattr(T.ops.aten, f"{ns}probe")


@scenarios
def definition_in_an_implementing_library(T, ns):
    return library(T, ns, "IMPL", "CPU").define("op(Tensor x) -> Tensor")


@scenarios.each(CPU="CPU", Meta="Meta", bad="BADKEY", Autocast="Autocast", AutogradCPU="AutogradCPU", CUDA="CUDA",
                lower="cpu", Tracer="Tracer", Functionalize="Functionalize", QuantizedMeta="QuantizedMeta")  # fmt: skip
def library_keys(T, ns, key):
    return repr(library(T, ns, "IMPL", key)).replace(ns, "")


@scenarios.each(CPU="CPU", bad="BADKEY", space=" CPU", AutogradHIP="AutogradHIP", Dense="Dense", Undefined="Undefined",
                implicit="CompositeImplicitAutograd", nonfunctional="CompositeExplicitAutogradNonFunctional")  # fmt: skip
def kernel_keys(T, ns, key):
    lib, _op = made(T, ns)
    return lib.impl("op", lambda x: x, key)


@scenarios.each(number=3, none=None, string="op", tensor_free=object())
def kernels_must_be_callable(T, ns, kernel):
    lib, _op = made(T, ns)
    with_type = caught(lambda: lib.impl("op", kernel, "CPU"))
    return with_type


@scenarios.each(number=3, packet=lambda T, ns: getattr(T.ops, ns).op)
def operators_are_given_by_name_or_overload(T, ns, given):
    lib, _op = made(T, ns)
    return lib.impl(given(T, ns) if callable(given) else given, lambda x: x, "CPU")


@scenarios
def an_overload_object_names_the_operator(T, ns):
    lib, op = made(T, ns)
    lib.impl(op.default, lambda x: x + 5, "CPU")
    return op(T.ones(2))


@scenarios
def kernel_for_another_namespace(T, ns):
    return library(T, ns).impl("elsewhere::op", lambda x: x, "CPU")


@scenarios
def kernel_key_against_the_librarys(T, ns):
    lib = library(T, ns, "IMPL", "CPU")
    return lib.impl("op", lambda x: x, "Meta")


@scenarios
def kernel_before_the_definition(T, ns):
    lib = library(T, ns)
    lib.impl("later", lambda x: x + 1, "CPU")
    before = caught(lambda: getattr(T.ops, ns).later(T.ones(2)))
    lib.define("later(Tensor x) -> Tensor")
    return before, getattr(T.ops, ns).later(T.ones(2))


@scenarios
def kernel_without_a_key_is_composite(T, ns):
    lib, op = made(T, ns)
    lib.impl("op", lambda x: x.sin())
    x = T.ones(2, requires_grad=True)
    return op(x), op(T.ones(2, device="meta")), T.autograd.grad(op(x).sum(), x)


@scenarios.each(cpu="cpu", meta="meta")
def call_without_a_kernel(T, ns, device):
    _lib, op = made(T, ns)
    return op(T.ones(2, device=device))


@scenarios
def call_with_a_kernel_for_another_backend(T, ns):
    _lib, op = made(T, ns, CUDA=lambda x: x)
    return op(T.ones(2))


@scenarios
def call_without_tensors(T, ns):
    _lib, op = made(T, ns, "op(int k) -> int", CPU=lambda k: k + 1)
    return op(3)


@scenarios
def call_without_tensors_of_a_composite(T, ns):
    _lib, op = made(T, ns, "op(int k) -> int", CompositeExplicitAutograd=lambda k: k + 1)
    return op(3)


@scenarios.each(empty=(), number=(3,), text=("a",), none=(None,), two=(1, 2))
def call_with_wrong_arguments(T, ns, args):
    _lib, op = made(T, ns, CPU=lambda x: x)
    return op(*args)


@scenarios.each(unknown={"y": 1}, twice={"x": 1})
def call_with_wrong_keywords(T, ns, kwargs):
    _lib, op = made(T, ns, CPU=lambda x: x)
    return op(T.ones(1), **kwargs)


@scenarios
def call_that_no_overload_takes(T, ns):
    lib, op = made(T, ns, CPU=lambda x: x)
    lib.define("op.two(Tensor x, int y) -> Tensor")
    return op("a")


@scenarios
def overloads_are_chosen_by_the_arguments(T, ns):
    lib, op = made(T, ns, CPU=lambda x: x + 1)
    lib.define("op.two(Tensor x, int y) -> Tensor")
    lib.impl("op.two", lambda x, y: x * y, "CPU")
    return op(T.ones(2)), op(T.ones(2), 7), op.two(T.ones(2), 3), op.overloads()


ARGUMENTS = "op(Tensor x, int a=1, int[] l=[1, 2], *, float b=2., str? s=None, bool f=False) -> Tensor"


@scenarios.each(
    none=((), {}),
    default=((1,), {}),
    defaults=((1, [1, 2]), {"b": 2.0, "s": None}),
    first=((3,), {}),
    second=((1, [5]), {}),
    by_name=((), {"l": [1, 2], "a": 4}),
    keyword=((), {"b": 3.0}),
    int_for_float=((), {"b": 3}),
    equal_int_for_float=((), {"b": 2}),
    text=((), {"s": "x", "f": True}),
    tuples=((1, (7, 8)), {}),
    bool_for_int=((True,), {}),
)
def kernels_get_what_differs_from_its_default(T, ns, call):
    seen = []

    def kernel(x, *args, **kwargs):
        seen.append(([(type(a).__name__, a) for a in args], {n: (type(v).__name__, v) for n, v in kwargs.items()}))
        return x.clone()

    _lib, op = made(T, ns, ARGUMENTS, CPU=kernel)
    args, kwargs = call
    op(T.ones(1), *args, **kwargs)
    return seen


@scenarios.each(
    none=("Tensor", lambda T: None),
    number=("Tensor", lambda T: 3),
    text=("Tensor", lambda T: "a"),
    tuple=("Tensor", lambda T: (1,)),
    tensor=("Tensor", lambda T: T.ones(1)),
    nothing_none=("()", lambda T: None),
    nothing_number=("()", lambda T: 3),
    nothing_tuple=("()", lambda T: ()),
    list_none=("Tensor[]", lambda T: None),
    list_number=("Tensor[]", lambda T: 3),
    list_empty=("Tensor[]", lambda T: ()),
    list_tuple=("Tensor[]", lambda T: (T.ones(1), T.zeros(1))),
    two_one=("(Tensor, int)", lambda T: T.ones(1)),
    two_none=("(Tensor, int)", lambda T: None),
    two_wrong=("(Tensor, int)", lambda T: (T.ones(1), "a")),
    two=("(Tensor, int)", lambda T: (T.ones(1), 4)),
    int=("int", lambda T: 4),
    int_text=("int", lambda T: "a"),
    bool=("bool", lambda T: True),
    float=("float", lambda T: 2.5),
    str=("str", lambda T: "abc"),
)  # fmt: skip
def what_kernels_return(T, ns, case):
    returns, value = case
    _lib, op = made(T, ns, f"op(Tensor x) -> {returns}", CPU=lambda x: value(T))
    result = op(T.ones(1))
    return type(result).__name__, result


@scenarios
def what_a_kernel_raises(T, ns):
    def kernel(x):
        raise ValueError("from the kernel")

    _lib, op = made(T, ns, CPU=kernel)
    return op(T.ones(1))


@scenarios
def a_later_kernel_holds_and_the_earlier_comes_back(T, ns):
    _lib, op = made(T, ns, CPU=lambda x: x + 1)
    other = library(T, ns, "IMPL", "CPU")
    other.impl("op", lambda x: x + 2, allow_override=True)
    during = op(T.zeros(1))
    other._destroy()
    return during, op(T.zeros(1))


@scenarios
def kernels_of_torch_are_overridden_and_come_back(T, ns):
    lib = library(T, "aten", "IMPL", "CPU")
    lib.impl("sinh", lambda x: x + 7)
    during = T.zeros(2).sinh(), T.ops.aten.sinh(T.zeros(2)), T.ops.aten.sinh.default(T.zeros(2))
    out = T.empty(2)
    T.sinh(T.zeros(2), out=out)
    lib._destroy()
    return during, out, T.zeros(2).sinh()


@scenarios
def overriding_under_autograd(T, ns):
    lib = library(T, "aten", "IMPL", "AutogradCPU")
    lib.impl("cosh", lambda x: x * 3)
    x = T.ones(2, requires_grad=True)
    during = x.cosh(), T.autograd.grad(x.cosh().sum(), x), T.ones(2).cosh()
    lib._destroy()
    return during, x.cosh()


@scenarios
def a_meta_kernel_of_a_composed_operator(T, ns):
    return library(T, "aten", "IMPL", "Meta").impl("linear", lambda *a: a[0])


@scenarios
def destroying_takes_operators_back(T, ns):
    lib, op = made(T, ns, CPU=lambda x: x + 1)
    before = op(T.ones(1))
    lib._destroy()
    gone = caught(lambda: getattr(T.ops, ns).op)
    again = library(T, ns)
    again.define("op(Tensor x, int y) -> Tensor")
    again.impl("op", lambda x, y: x * y, "CPU")
    return before, gone, getattr(T.ops, ns).op(T.ones(1), 4), str(getattr(T.ops, ns).op.default._schema).replace(ns, "")


@scenarios
def destroying_one_overload_leaves_the_other(T, ns):
    first, op = made(T, ns, CPU=lambda x: x + 1)
    second = library(T, ns, "FRAGMENT")
    second.define("op.two(Tensor x, int y) -> Tensor")
    both = op.overloads()
    second._destroy()
    del first
    return both, getattr(T.ops, ns).op.overloads()


@scenarios
def a_collected_library_takes_its_kernels_along(T, ns):
    lib, op = made(T, ns, CPU=lambda x: x + 1)
    other = library(T, ns, "IMPL", "CPU")
    other.impl("op", lambda x: x + 2, allow_override=True)
    during = op(T.zeros(1))
    del other
    gc.collect()
    return during, op(T.zeros(1)), repr(lib).replace(ns, "")


@scenarios
def kernels_at_two_keys(T, ns):
    order = []
    lib, op = made(T, ns)

    def upper(keys, x):
        order.append("Autograd")
        return op.default.redispatch(keys & T._C._after_autograd_keyset, x)

    lib.impl("op", upper, "Autograd", with_keyset=True)
    lib.impl("op", lambda x: (order.append("CPU"), x * 3)[1], "CPU")
    x = T.ones(2, requires_grad=True)
    return op(x), op(x.detach()), T.autograd.grad(op(x).sum(), x), order


@scenarios
def the_autograd_kernel_is_asked_under_no_grad(T, ns):
    _lib, op = made(T, ns, Autograd=lambda x: x * 5, CPU=lambda x: x * 3)
    with T.no_grad():
        quiet = op(T.ones(1, requires_grad=True))
    return quiet, op(T.ones(1)), op(T.ones(1, requires_grad=True))


@scenarios
def inference_mode_passes_autograd_by(T, ns):
    _lib, op = made(T, ns, Autograd=lambda x: x * 5, CPU=lambda x: x * 3)
    with T.inference_mode():
        return op(T.ones(1)).tolist()


@scenarios.each(Autograd="Autograd", AutogradCPU="AutogradCPU")
def fallthrough_of_autograd(T, ns, key):
    _lib, op = made(T, ns, CPU=lambda x: x * 3, **{key: T.library.fallthrough_kernel})
    x = T.ones(2, requires_grad=True)
    return op(x), T.autograd.grad(op(x).sum(), x)


@scenarios
def fallthrough_kernels_are_not_called(T, ns):
    return T.library.fallthrough_kernel()


@scenarios
def autocast_kernels_apply_under_autocast(T, ns):
    _lib, op = made(T, ns, CPU=lambda x: x * 3, AutocastCPU=lambda x: x * 7)
    with T.autocast("cpu"):
        on = op(T.ones(1))
    return on, op(T.ones(1))


@scenarios
def autocast_kernels_of_another_device_do_not(T, ns):
    _lib, op = made(T, ns, CPU=lambda x: x * 3, AutocastCUDA=lambda x: x * 7)
    with T.autocast("cpu"):
        return op(T.ones(1))


@scenarios
def autograd_kernels_of_another_backend_do_not_apply(T, ns):
    _lib, op = made(T, ns, CPU=lambda x: x * 3, AutogradMeta=lambda x: x * 7)
    return op(T.ones(1, requires_grad=True)), op(T.ones(1))


@scenarios
def a_backend_kernel_goes_before_a_composite_one(T, ns):
    _lib, op = made(T, ns, CompositeExplicitAutograd=lambda x: x * 3, CPU=lambda x: x * 5)
    return op(T.ones(1)), op(T.ones(1, device="meta"))


@scenarios.each(
    define_kernel=lambda lib, T: T.library.define(f"{lib.ns}::q", "(Tensor x) -> Tensor"),
    define_type=lambda lib, T: T.library.define(3, "(Tensor x) -> Tensor"),
    define_bare=lambda lib, T: T.library.define("fn", "(Tensor x) -> Tensor"),
    define_named=lambda lib, T: T.library.define("cc::fn", "foo(Tensor x) -> Tensor"),
    define_half=lambda lib, T: T.library.define("cc::fn", "(Tensor x)"),
    define_number=lambda lib, T: T.library.define("cc::fn", 3),
    impl_bare=lambda lib, T: T.library.impl("fn", "default", lambda x: x),
    impl_device=lambda lib, T: T.library.impl(f"{lib.ns}::op", "nope", lambda x: x),
    impl_key=lambda lib, T: T.library.impl(f"{lib.ns}::op", "CPU", lambda x: x),
    impl_types=lambda lib, T: T.library.impl(f"{lib.ns}::op", ("cpu", "cuda"), lambda x: x),
    impl_default=lambda lib, T: T.library.impl(f"{lib.ns}::op", "default", lambda x: x),
    kernel_unknown=lambda lib, T: T.library.get_kernel("nowhere::op", "CPU"),
    kernel_key=lambda lib, T: T.library.get_kernel(f"{lib.ns}::op", "BAD"),
    kernel_type=lambda lib, T: T.library.get_kernel(3, "CPU"),
    context=lambda lib, T: T.library.get_ctx(),
    old_name=lambda lib, T: T.library.impl_abstract(f"{lib.ns}::op", lambda x: x) and None,
    triton=lambda lib, T: T.library.wrap_triton(lambda x: x),
    fallback_elsewhere=lambda lib, T: lib.fallback(lambda *a: 1, "CPU"),
    fallback_keyless=lambda lib, T: T.library.Library("_", "IMPL").fallback(lambda *a: 1),
)
def functions_of_the_module(T, ns, call):
    lib, _op = made(T, ns)
    return call(lib, T)


@scenarios
def a_kernel_can_be_had_and_called(T, ns):
    _lib, _op = made(T, ns, CPU=lambda x: x + 4)
    keys = T._C.DispatchKeySet(T._C.DispatchKey.CPU)
    own = T.library.get_kernel(f"{ns}::op", "CPU").call_boxed(keys, T.ones(2))
    return own, T.library.get_kernel("aten::sin", "CPU").call_boxed(keys, T.ones(2))


@scenarios
def decorators_register(T, ns):
    lib = library(T, ns)
    lib.define("op(Tensor x) -> Tensor")

    @T.library.impl(f"{ns}::op", "cpu")
    def kernel(x):
        return x - 1

    @T.library.register_fake(f"{ns}::op")
    def fake(x):
        return T.empty_like(x)

    return getattr(T.ops, ns).op(T.ones(2)), getattr(T.ops, ns).op(T.ones(2, device="meta")), kernel(T.ones(1))


@scenarios
def a_fake_rule_may_be_kept(T, ns):
    lib, _op = made(T, ns)
    T.library.register_fake(f"{ns}::op", lambda x: x, lib=lib)
    return T.library.register_fake(f"{ns}::op", lambda x: x, lib=lib, allow_override=False)


@scenarios
def the_fallback_of_a_backend_answers_for_operators_without_a_kernel(T, ns):
    _lib, op = made(T, ns)
    lib = T.library.Library("_", "IMPL", "CPU")
    asked = []

    def answer(op, *args, **kwargs):
        asked.append((str(op).replace(ns, ""), kwargs))
        return args[0] * 11

    lib.fallback(answer)
    found = op(T.ones(2)), T.ones(2).sin()
    lib._destroy()
    return found, asked, caught(lambda: op(T.ones(2)))[0]


@scenarios.each(
    recorded=lambda x: x.sin(),
    numpy=lambda x: x.detach().sin(),
    integer=lambda x: x.detach().long(),
    same=lambda x: x,
)
def gradients_that_nobody_registered(T, ns, kernel):
    _lib, op = made(T, ns, CPU=kernel)
    x = T.ones(2, requires_grad=True)
    result = op(x)
    if result.requires_grad and result is not x:
        result.sum().backward()
    return result, x.grad


@scenarios.each(implicit="CompositeImplicitAutograd", explicit="CompositeExplicitAutograd", upper="Autograd")
def gradients_of_composites(T, ns, key):
    _lib, op = made(T, ns, **{key: lambda x: x.sin()})
    x = T.ones(2, requires_grad=True)
    op(x).sum().backward()
    return x.grad
