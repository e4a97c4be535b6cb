"""`FakeTensorMode` on both sides: geometry and device without data, and the errors where data would be needed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from .scenarios import Scenarios, assert_same, caught, logging_mode, part, plain

scenarios = Scenarios()


def fakes(T: Any) -> Any:
    return part(T, "_subclasses.fake_tensor")


def described(T: Any, value: Any) -> Any:
    """Return what there is to see of fakes in nested results."""
    if isinstance(value, T.Tensor):
        return (
            type(value).__name__, value.shape, value.stride(), value.dtype, value.device, value.requires_grad,
            None if value.grad_fn is None else value.grad_fn.name(),
        )  # fmt: skip
    if isinstance(value, (list, tuple)):
        return [described(T, item) for item in value]
    return value


def under(T: Any, call: Any, **options: Any) -> Any:
    with fakes(T).FakeTensorMode(**options):
        return call()


@scenarios.each(
    plain=lambda T: T.ones(2, 3), grad=lambda T: T.ones(2, 3, requires_grad=True), view=lambda T: T.ones(3, 2).t(),
    integers=lambda T: T.arange(4), meta=lambda T: T.empty(2, device="meta"), offset=lambda T: T.ones(4, 4)[1:, 2:],
    parameter=lambda T: T.nn.Parameter(T.ones(3)),
)  # fmt: skip
def twins(T, make):
    mode, real = fakes(T).FakeTensorMode(), make(T)
    twin = mode.from_tensor(real)
    return (
        described(T, twin), plain(twin), twin.fake_device, twin.is_leaf, twin.fake_mode is mode, twin.constant,
        mode.from_tensor(real) is twin, isinstance(twin, T.nn.Parameter), twin.storage_offset(),
        twin.untyped_storage().device, fakes(T).is_fake(twin), fakes(T).is_fake(real),
    )  # fmt: skip


@scenarios.each(
    zeros=lambda T: T.zeros(2, 3), device=lambda T: T.zeros(2, device="meta"), cuda=lambda T: T.empty(2, device="cuda"),
    literal=lambda T: T.tensor([1, 2]), random=lambda T: T.randn(2, 3), arange=lambda T: T.arange(3),
    like=lambda T: T.ones_like(T.zeros(2)), moved=lambda T: T.empty(2, device="cuda:1").cpu(),
    computed=lambda T: T.empty(2, device="cuda") + 1, linear=lambda T: T.nn.Linear(2, 3)(T.randn(4, 2)),
    parameters=lambda T: list(T.nn.Linear(2, 3).parameters()), item=lambda T: (T.tensor(3) + 1).item(),
    number_on_device=lambda T: T.empty(2, device="cuda") * T.tensor(2.0),
    new=lambda T: T.empty(2, device="cuda").new_zeros(3), convolution=lambda T: T.nn.Conv2d(2, 3, 3)(T.ones(1, 2, 8, 8)),
    attention=lambda T: T.nn.functional.scaled_dot_product_attention(*[T.ones(1, 2, 3, 4)] * 3),
    norm=lambda T: T.nn.BatchNorm2d(3)(T.ones(2, 3, 4, 4)),
    loss=lambda T: T.nn.functional.cross_entropy(T.ones(2, 3), T.tensor([0, 1])),
    dropout=lambda T: T.nn.functional.dropout(T.ones(3)), half=lambda T: T.ones(2).half() + T.ones(2),
    topk=lambda T: T.ones(5).topk(2), einsum=lambda T: T.einsum("ij,jk->ik", T.ones(2, 3), T.ones(3, 4)),
    indexed=lambda T: T.ones(4, 5)[:, [0, 1]], padded=lambda T: T.nn.functional.pad(T.ones(2, 3), (1, 1)),
)  # fmt: skip
def made_under_the_mode(T, make):
    return described(T, under(T, lambda: make(T)))


@scenarios.each(
    item=lambda T, f: f.sum().item(), truth=lambda T, f: bool(f.sum()), number=lambda T, f: int(f.sum()),
    listed=lambda T, f: f.tolist(), array=lambda T, f: f.detach().numpy(), nonzero=lambda T, f: f.nonzero(),
    unique=lambda T, f: T.unique(f.detach()), masked=lambda T, f: f[f > 0], equal=lambda T, f: T.equal(f, f),
    close=lambda T, f: T.allclose(f, f), is_nonzero=lambda T, f: f.sum().is_nonzero(),
    bincount=lambda T, f: T.bincount(f.detach().long().view(-1)), selected=lambda T, f: T.masked_select(f, f > 0),
    devices=lambda T, f: f + f.detach().to("meta"),
)  # fmt: skip
def what_needs_data(T, call):
    fake = fakes(T).FakeTensorMode().from_tensor(T.ones(2, 3, requires_grad=True))
    return caught(lambda: call(T, fake))


@scenarios
def real_tensors_are_refused(T):
    fake = fakes(T).FakeTensorMode().from_tensor(T.ones(2, 3))
    return (
        caught(lambda: T.add(fake, T.ones(2, 3))),
        caught(lambda: T.add(fake, T.tensor(1.0))),
        caught(lambda: under(T, lambda: T.mul(T.nn.Parameter(T.ones(3)) if False else fake, 2))),
    )


@scenarios
def real_tensors_are_taken_where_allowed(T):
    x = T.ones(2, 3, requires_grad=True)
    return described(T, under(T, lambda: x + 1, allow_non_fake_inputs=True)), caught(lambda: under(T, lambda: x + 1))


@scenarios
def modes_are_not_mixed(T):
    one, two = fakes(T).FakeTensorMode(), fakes(T).FakeTensorMode()
    return caught(lambda: T.add(one.from_tensor(T.ones(2)), two.from_tensor(T.ones(2))))


@scenarios
def the_inner_of_two_modes_holds(T):
    one, two = fakes(T).FakeTensorMode(), fakes(T).FakeTensorMode()
    with one:
        with two:
            inner = T.zeros(2)
        outer = T.zeros(2)
        with one:
            again = T.zeros(2)
        last = T.zeros(2)
    return (
        inner.fake_mode is two,
        [made.fake_mode is one for made in (outer, again, last)],
        T._C._len_torch_dispatch_stack(),
    )


@scenarios
def gradients_are_fake(T):
    fake = fakes(T).FakeTensorMode().from_tensor(T.ones(2, 3, requires_grad=True))
    loss = (T.nn.functional.gelu(fake) @ fake.t()).sum()
    loss.backward()
    return described(T, [loss, fake.grad]), plain(fake.grad)


@scenarios
def writes_and_views(T):
    mode = fakes(T).FakeTensorMode()
    x = mode.from_tensor(T.zeros(2, 3))
    x.add_(1)
    first = x._version, x[1:].zero_()._version, x.t()._base is x, x.view(-1)._is_view()
    out = mode.from_tensor(T.zeros(2, 3))
    second = T.add(x, x, out=out) is out, out._version, x.t_() is x, x.shape, x.stride()
    x.data = mode.from_tensor(T.zeros(5))
    third = x.shape, mode.from_tensor(T.zeros(2, 3)).unsqueeze_(0).shape
    return first, second, third, caught(lambda: mode.from_tensor(T.ones(2, requires_grad=True)).add_(1))


@scenarios
def copies(T):
    fake = fakes(T).FakeTensorMode().from_tensor(T.ones(2, 3))
    copied = copy.deepcopy(fake)
    return described(T, copied), copied is fake


@scenarios
def made_by_hand(T):
    module = fakes(T)
    mode = module.FakeTensorMode()
    made = module.FakeTensor(mode, T.empty(2, device="meta"), T.device("cpu"))
    return plain(made), caught(lambda: module.FakeTensor(mode, T.empty(2), T.device("cpu")))


@scenarios
def settings(T):
    mode = fakes(T).FakeTensorMode()
    return (
        mode.allow_fallback_kernels,
        mode.shape_env,
        mode.static_shapes,
        mode.allow_non_fake_inputs,
        mode.is_infra_mode(),
    )


@scenarios
def errors_carry_the_operator(T):
    module, found = fakes(T), []
    for name in ("UnsupportedOperatorException", "DataDependentOutputException", "DynamicOutputShapeException"):
        error = getattr(module, name)(T.ops.aten.add.Tensor)
        found.append((str(error), error.func is T.ops.aten.add.Tensor, type(error).__mro__[1].__name__))
    return found


@scenarios
def a_programs_modes_are_asked_first(T):
    mode = logging_mode(T)
    with mode, fakes(T).FakeTensorMode():
        made = T.ones(2) + 1
    return mode.log, type(made).__name__


@scenarios
def the_mode_can_be_left_for_a_while(T):
    with fakes(T).FakeTensorMode():
        with fakes(T).unset_fake_temporarily():
            real = T.ones(2)
        fake = T.ones(2)
    return type(real).__name__, type(fake).__name__


@scenarios
def a_model_and_its_training_step(T):
    with fakes(T).FakeTensorMode():
        layer = T.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        model = T.nn.Sequential(T.nn.Embedding(50, 16), layer, T.nn.Linear(16, 50))
        ids = T.randint(0, 50, (2, 7))
        out = model(ids)
        loss = T.nn.functional.cross_entropy(out.view(-1, 50), ids.view(-1))
        loss.backward()
        optimizer = T.optim.SGD(model.parameters(), lr=0.1, foreach=False)
        optimizer.step()
        state = model.state_dict()
    return described(T, [out, loss, model[0].weight.grad]), {name: described(T, value) for name, value in state.items()}


@scenarios
def values_of_literals_follow_writes(T):
    """Values stay known while known ones are written, and are forgotten with all that shares their memory."""
    found = []
    with fakes(T).FakeTensorMode():
        x = T.tensor(4.0)
        y = x.add_(1)
        found += [x.item(), y.item()]
        for write in (
            lambda one: one[:].add_(T.rand([1])), lambda one: one.expand([4]).__setitem__(0, 1), lambda one: one.resize_([2]),
            lambda one: one[:].mul_(3), lambda one: one.add(T.rand([1])),
        ):  # fmt: skip
            x = T.tensor([1.0])
            write(x)
            found.append(None if x.constant is None else x.constant.tolist())
        found += [T.div(4, 4, rounding_mode="trunc").constant.item(), type(T.div(3, 2)).__name__]
    return found


@scenarios
def results_of_calls_are_remembered(T):
    module = fakes(T)
    counted = []

    def info():
        found = module.FakeTensorMode.cache_info()
        counted.append((found.hits, found.misses, found.bypasses.get("inplace view", 0)))

    with module.FakeTensorMode():
        x, y, other = T.randn(4, 3), T.randn(4, 3), T.randn(3, 4).t()
        base = T.randn(2, 4, 3)
        module.FakeTensorMode.cache_clear()
        made = []
        for call in (
            lambda: x + y, lambda: x + y, lambda: x + other, lambda: x.add_(y), lambda: y.add_(x), lambda: x.mul(x),
            lambda: x.mul(y), lambda: base.permute(1, 0, 2), lambda: base.permute(1, 0, 2), lambda: T.split(x, 2),
            lambda: T.split(y, 2), lambda: x.clone().unsqueeze_(0), lambda: x + 1.0, lambda: x + 1,
        ):  # fmt: skip
            made.append(described(T, call()))
            info()
        with T.inference_mode():
            z = x + y
            made.append([one.is_inference() for one in (z, x + y, z + 1, z[0], x[0], x.mul_(2))])
        info()
        view = base[1]
        same = view.untyped_storage()._cdata == base.untyped_storage()._cdata
        metadata = module.extract_tensor_metadata(view)
    return counted, made, same, tuple(metadata.shape), metadata.storage_offset, metadata.storage_bytes


@scenarios
def real_results_are_compared_with_fakes(T):
    utils = part(T, "_subclasses.fake_utils")
    with utils.CrossRefFakeMode():
        made = T.nn.functional.relu(T.ones(2, 3) - 2).t().contiguous()
    mode = fakes(T).FakeTensorMode(allow_non_fake_inputs=True)
    x = T.arange(6.0)
    with mode:
        y = mode.from_tensor(x)[2:4]
    back = utils.try_convert_fake_to_real([y, 3])
    return (
        made.shape,
        back[0].tolist(),
        back[1],
        utils.outputs_alias_inputs(x[1:], [x]),
        utils.outputs_are_inputs(x, [x]),
    )


@scenarios
def modules_are_copied_without_data(T):
    mode = fakes(T).FakeTensorMode()
    module = T.nn.BatchNorm2d(3)
    with fakes(T).FakeCopyMode(mode):
        made = copy.deepcopy(module)
    return [
        (name, described(T, one), isinstance(one, T.nn.Parameter))
        for name, one in made.state_dict(keep_vars=True).items()
    ]


@scenarios
def traces_know_their_mode(T):
    guards = part(T, "_guards")
    mode, other = fakes(T).FakeTensorMode(), fakes(T).FakeTensorMode()
    x = mode.from_tensor(T.ones(2))
    found = [guards.detect_fake_mode([x]) is mode, guards.detect_fake_mode([T.ones(2)]), guards.active_fake_mode()]
    with other:
        found += [guards.active_fake_mode() is other, guards.detect_fake_mode(None) is other]
    with guards.tracing(guards.TracingContext(other)):
        found += [guards.detect_fake_mode([x]) is other, guards.TracingContext.get().fake_mode is other]
    found += [
        caught(guards.TracingContext.get),
        caught(lambda: guards.detect_fake_mode([x, other.from_tensor(x.new_ones(1))]))[0],
    ]
    return found


@scenarios
def fakes_are_as_their_originals(T):
    mode = fakes(T).FakeTensorMode()
    x = T.ones(4)
    fake = mode.from_tensor(x)
    same = mode.from_tensor(x) is fake
    view = mode.from_tensor(x[1:])
    sharing = T._C._storage_id(view) == T._C._storage_id(fake)
    with T.inference_mode():
        inference = T.ones(2)
    return same, sharing, mode.from_tensor(inference).is_inference()


@scenarios
def fakes_have_tangents(T):
    forward = T.autograd.forward_ad
    with fakes(T).FakeTensorMode(), forward.dual_level():
        dual = forward.make_dual(T.ones(3), T.ones(3))
        return described(T, [dual * 3, forward.unpack_dual(dual.sin()).tangent])


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def test_no_memory_is_taken():
    import mindtorch as mt

    with fakes(mt).FakeTensorMode():
        huge = mt.empty(1 << 20, 1 << 20) @ mt.empty(1 << 20, 1 << 20)
        total = (huge + 1).sum()
    assert huge.shape == (1 << 20, 1 << 20)
    assert total._array is None


def test_symbolic_shapes_are_refused():
    import mindtorch as mt

    with pytest.raises(NotImplementedError, match="symbolic shapes"):
        fakes(mt).FakeTensorMode(shape_env=object())


def test_operators_of_libraries_need_a_description():
    import mindtorch as mt
    import mindtorch.library

    library = mindtorch.library.Library("fake_tests", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    mode = fakes(mt).FakeTensorMode()
    value = mode.from_tensor(mt.ones(3))
    with pytest.raises(fakes(mt).UnsupportedOperatorException, match=r"fake_tests\.twice\.default"):
        mt.ops.fake_tests.twice(value)
    mindtorch.library.register_fake("fake_tests::twice", lambda x: mt.empty_like(x))
    assert mt.ops.fake_tests.twice(value).shape == (3,)
