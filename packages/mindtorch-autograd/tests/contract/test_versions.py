"""Version counters, in-place writes, views: what is counted, what is refused with which text, what gradients result."""

from __future__ import annotations

from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught, graph

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def leaf(T: Any, *shape: int, dtype: Any = None) -> Any:
    count = 1
    for extent in shape:
        count *= extent
    return (T.arange(count, dtype=dtype or T.float32).reshape(shape) + 1).requires_grad_()


@scenarios
def counters(T):
    x = T.zeros(4)
    seen = [x._version]
    x.add_(1)
    seen.append(x._version)
    x[0] = 3
    seen.append(x._version)
    view = x[1:]
    seen.append(view._version)
    view.zero_()
    seen.append((x._version, view._version))
    other = x.detach()
    other.add_(1)
    seen.append((x._version, other._version))
    data = x.data
    seen.append(data._version)
    data.add_(1)
    seen.append((x._version, data._version))
    x.data = T.ones(4)
    seen.append(x._version)
    x.copy_(T.ones(4))
    seen.append(x._version)
    T.add(x, 1, out=x)
    seen.append(x._version)
    x.requires_grad_()
    seen.append(x._version)
    with T.no_grad():
        x.mul_(2)
    seen.append(x._version)
    x.grad = T.ones(4)
    x.grad.zero_()
    seen.append((x._version, x.grad._version))
    return seen


@scenarios
def counters_of_geometry_writes(T):
    x = T.zeros(2, 3)
    seen = []
    for write in (
        lambda: x.t_(),
        lambda: x.unsqueeze_(0),
        lambda: x.squeeze_(),
        lambda: x.resize_(6),
        lambda: x.set_(T.ones(3)),
        lambda: x.transpose_(0, 0),
    ):
        write()
        seen.append((x._version, tuple(x.shape)))
    return seen


@scenarios
def increment_version(T):
    x, y = T.zeros(2), T.zeros(2)
    T.autograd.graph.increment_version(x)
    T.autograd.graph.increment_version([x, y])
    x._version
    with T.inference_mode():
        z = T.ones(2)
    return x._version, y._version, caught(lambda: T.autograd.graph.increment_version(z))


MODIFIED = {
    "input": lambda T, x: (lambda y: (y * y, y.add_(1)))(x * 2),
    "result": lambda T, x: (*(lambda y: (y.exp_(), y.mul_(2), y))(x * 2)[2:], None),
    "exp": lambda T, x: (lambda y: (y, y.add_(1)))(x.exp()),
    "second_of_two": lambda T, x: (lambda a, b: (a * b, b.zero_()))(x * 1, x * 2),
    "view_of_saved": lambda T, x: (lambda y: (y.pow(2), y[0].zero_()))(x * 2),
    "view_saved_base_written": lambda T, x: (lambda y: (y[0].pow(2), y.zero_()))(x * 2),
    "matmul": lambda T, x: (lambda y: (y @ y.t(), y.add_(1)))(x * 2),
    "max_indices": lambda T, x: (lambda y: (y[0], y[1].add_(0)))(x.max(1)),
    "unbind_piece": lambda T, x: (lambda y: (y.pow(2), y.zero_()))((x * 1).sort(1)[0]),
    "leaf_in_no_grad": lambda T, x: (x * x, written_in_no_grad(T, x)),
    "twice": lambda T, x: (lambda y: (y * y, y.add_(1).add_(1)))(x * 2),
    "index": lambda T, x: (lambda i: (x[i], i.zero_()))(T.tensor([1])),
    "detached": lambda T, x: (lambda y: (y * y, y.detach().add_(1)))(x * 2),
    "data_is_silent": lambda T, x: (lambda y: (y * y, y.data.add_(1)))(x * 2),
    "softmax": lambda T, x: (lambda y: (y, y.mul_(2)))(x.softmax(1)),
    "layer_norm": lambda T, x: (lambda y: (T.nn.functional.layer_norm(y, (3,)), y.mul_(2)))(x * 1),
    "linear_weight": lambda T, x: (lambda w: (T.nn.functional.linear(x, w), w.mul_(2)))(T.ones(4, 3)),
    "mask": lambda T, x: (lambda m: (x.masked_fill(m, 0.0), m.logical_not_()))(x > 2),
}


def written_in_no_grad(T, x):
    with T.no_grad():
        x.add_(1)


@scenarios.each(**MODIFIED)
def modified_text(T, case):
    x = leaf(T, 2, 3)
    out = case(T, x)[0]
    return caught(lambda: out.sum().backward()), x.grad


@scenarios.each(float64="float64", bfloat16="bfloat16", complex64="complex64", half="half")
def modified_text_dtypes(T, case):
    x = T.ones(2, dtype=getattr(T, case), requires_grad=True)
    y = x * 2
    z = y * y
    y.add_(1)
    return caught(lambda: z.backward(T.ones_like(z)))


@scenarios
def not_modified_when_not_saved(T):
    x = leaf(T, 3)
    y = x * 2
    z = y + 1
    y.mul_(5)
    w = y.sum()
    y.add_(1)
    (z.sum() + w).backward()
    return x.grad


LEAF_WRITES = {
    "add_": lambda x: x.add_(1),
    "iadd": lambda x: x.__iadd__(1),
    "setitem": lambda x: x.__setitem__(0, 1.0),
    "view": lambda x: x[0].add_(1),
    "view_view": lambda x: x[0][0].add_(1),
    "zero_": lambda x: x.zero_(),
    "copy_": lambda x: x.copy_(x.detach()),
    "normal_": lambda x: x.normal_(),
    "fill_": lambda x: x.fill_(2),
    "detached": lambda x: x.detach().add_(1),
    "data": lambda x: x.data.add_(1),
    "expand": lambda x: x[:1].expand(2, 3).add_(1),
    "masked": lambda x: x.__setitem__(x > 2, 0.0),
    "unbind": lambda x: x.unbind()[0].add_(1),
    "t_": lambda x: x.t_().shape,
    "unsqueeze_": lambda x: x.unsqueeze_(0).shape,
    "resize_": lambda x: x.resize_(6).shape,
    "out": lambda x: x.detach().add(1, out=x) if hasattr(x, "nothing") else None,
    "requires_grad_false": lambda x: x.requires_grad_(False).add_(1),
}


@scenarios.each(**LEAF_WRITES)
def write_to_leaf(T, case):
    x = leaf(T, 2, 3)
    return caught(lambda: case(x)), x, x._version


@scenarios.each(**LEAF_WRITES)
def write_to_leaf_in_no_grad(T, case):
    x = leaf(T, 2, 3)
    with T.no_grad():
        result = caught(lambda: case(x)) if case.__code__.co_names[:1] != ("normal_",) else None
    return result, x.shape, x._version, x.is_leaf, x.requires_grad


@scenarios
def requiring_value_written_to_plain(T):
    x, p = leaf(T, 3), T.zeros(2, 3)
    p[0] = x
    p[1].add_(x * 2)
    p.pow(2).sum().backward()
    return p.requires_grad, p.is_leaf, graph(p.grad_fn), x.grad


@scenarios
def requiring_value_written_to_plain_views(T):
    x, p = leaf(T, 3), T.zeros(2, 3)
    row = p[1]
    other = p[1]
    row.copy_(x)
    return (
        row.requires_grad,
        p.requires_grad,
        other.requires_grad,
        other.grad_fn,
        p.grad_fn,
        caught(lambda: T.autograd.grad((other * 2).sum(), x)),
    )


@scenarios
def view_made_in_no_grad(T):
    x = leaf(T, 2, 3)
    y = x * 1
    with T.no_grad():
        v = y[0]
        w = x[0]
        w2 = w[1:]
    plain = T.ones(3)
    with T.no_grad():
        u = plain[1:]
    return [
        caught(lambda: v.add_(1)),
        caught(lambda: w.add_(1)),
        caught(lambda: w2.add_(1)),
        caught(lambda: u.add_(1)),
        caught(lambda: u.add_(leaf(T, 2))),
        v.requires_grad,
        v.grad_fn,
        v._is_view(),
        y._version,
    ]


@scenarios
def view_made_in_no_grad_written_there(T):
    x = leaf(T, 2, 3)
    y = x * 1
    with T.no_grad():
        v = y[0]
        v.add_(1)
    y.sum().backward()
    return y, v, x.grad, v.requires_grad


MULTI = {
    "unbind": lambda T, y: y.unbind(),
    "split": lambda T, y: y.split(1),
    "split_sizes": lambda T, y: y.split([1, 2], 1),
    "chunk": lambda T, y: y.chunk(2),
    "tensor_split": lambda T, y: y.tensor_split(2),
    "hsplit": lambda T, y: y.hsplit([1]),
    "iter": lambda T, y: list(y),
}


@scenarios.each(**MULTI)
def multi_output_views(T, case):
    x = leaf(T, 2, 3)
    y = x * 1
    parts = case(T, y)
    plain_parts = case(T, T.ones(2, 3))
    base = T.ones(2, 3)
    with T.no_grad():
        quiet = case(T, y)
    return [
        caught(lambda: parts[0].add_(1)),
        caught(lambda: parts[1].mul_(2)),
        caught(lambda: plain_parts[0].add_(1)),
        caught(lambda: plain_parts[0].add_(x.sum())),
        caught(lambda: parts[0][0].add_(1)),
        caught(lambda: quiet[0].add_(1)),
        caught(lambda: case(T, x)[0].add_(1)),
        caught(lambda: case(T, base)[1].mul_(x.detach().sum())),
    ]


@scenarios
def multi_output_view_after_base_write(T):
    x = leaf(T, 2, 3)
    y = x * 1
    parts = y.unbind()
    y.mul_(2)
    return caught(lambda: parts[0].grad_fn), caught(lambda: parts[0].sum().backward()), x.grad


@scenarios
def base_written_view_gradients(T):
    x = leaf(T, 2, 3)
    y = x * 1
    v = y[:, 1]
    before = v.grad_fn
    y.mul_(T.tensor([1.0, 2.0, 3.0]))
    v.pow(2).sum().backward()
    return before, v.grad_fn, graph(v.grad_fn), x.grad, v._base is y, v._version


@scenarios
def chained_views_written(T):
    x = leaf(T, 4, 4)
    y = x * 1
    a = y[1:3]
    b = a[:, 1:]
    c = b.t()
    c.mul_(2)
    b.add_(x[1:3, 1:])
    a[0].pow_(2)
    c.exp_()
    y.sum().backward()
    return x.grad, c._base is y, b._base is y, graph(y.grad_fn)[0], c.grad_fn, a.grad_fn, y.grad_fn


@scenarios
def written_view_grad_fn_attributes(T):
    x = leaf(T, 2, 3)
    y = x * 1
    v = y[1]
    v.mul_(2)
    node = v.grad_fn
    return [
        node.name(),
        node._saved_size,
        node._saved_stride,
        node._saved_storage_offset,
        [n.name() if n else None for n, _ in node.next_functions],
        type(y.grad_fn).__name__,
        v.output_nr,
    ]


@scenarios
def expanded_base_with_stride_zero(T):
    x = leaf(T, 3)
    y = x.expand(2, 3)
    return caught(lambda: y.add_(1)), caught(lambda: (x * 1).expand(2, 3)[0].add_(1))


@scenarios
def transposed_base_write(T):
    x = leaf(T, 2, 3)
    y = (x * 1).t()
    y[0].mul_(5)
    y[:, 1] = x[1]
    (y * T.arange(6.0).reshape(3, 2)).sum().backward()
    return x.grad, graph(y.grad_fn)


@scenarios
def inplace_on_view_second_order(T):
    x = leaf(T, 2, 3, dtype=T.float64)
    y = x * 1
    y[0].mul_(x[1])
    y[1].exp_()
    (g,) = T.autograd.grad(y.pow(2).sum(), x, create_graph=True)
    (h,) = T.autograd.grad((g * g).sum(), x)
    return g, h


@scenarios
def inplace_second_order(T):
    x = leaf(T, 3, dtype=T.float64)
    y = (x * 0.1).exp_().mul_(x).tanh_()
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = T.autograd.grad(h.sum(), x)
    return g, h, k


@scenarios
def copy_with_broadcast_and_cast(T):
    x, p = leaf(T, 3), T.zeros(2, 3, dtype=T.float64)
    p.copy_(x)
    p.sum().backward()
    return x.grad, graph(p.grad_fn)


@scenarios
def zero_cuts_history(T):
    x = leaf(T, 3)
    y = x * 2
    y.zero_()
    y.sum().backward()
    z = x * 2
    z.fill_(3.0)
    z.sum().backward()
    return x.grad, graph(y.grad_fn), y.requires_grad


@scenarios
def masked_and_indexed_writes(T):
    x = leaf(T, 2, 3)
    y = x * 1
    y[y > 3] = 0.0
    y.index_add_(0, T.tensor([1]), x[:1])
    y.masked_fill_(y == 2, 9.0)
    (y * y).sum().backward()
    return x.grad, graph(y.grad_fn)


@scenarios
def data_swap(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    x.data = T.tensor([5.0, 6.0, 7.0])
    y.backward()
    return x.grad, x._version, x.requires_grad, caught(lambda: setattr(x, "data", T.ones(2, dtype=T.int64)))


@scenarios
def set_data_of_non_leaf_and_shapes(T):
    x = leaf(T, 3)
    y = x * 2
    y.data = T.ones(5)
    x.data = T.ones(4)
    return y.shape, y.grad_fn, x.shape, x.is_leaf


@scenarios
def inplace_result_is_self(T):
    x = leaf(T, 3)
    y = x * 2
    z = y.add_(1)
    return z is y, y.grad_fn, y.output_nr, y._is_view()


@scenarios
def inplace_with_requiring_other(T):
    x = leaf(T, 3)
    p = T.ones(3)
    p.mul_(x)
    q = T.ones(3, dtype=T.int64)
    return (
        p.requires_grad,
        p.grad_fn,
        caught(lambda: q.add_(x)),
        caught(lambda: T.ones(2, requires_grad=True).add(1, out=T.ones(2))),
    )


@scenarios
def out_argument_with_grad(T):
    x = leaf(T, 3)
    out = T.zeros(3)
    with T.no_grad():
        quiet = T.mul(x, 2, out=out)
    return [
        caught(lambda: T.mul(x, 2, out=out)),
        caught(lambda: T.mul(T.ones(3), 2, out=T.ones(3, requires_grad=True))),
        quiet is out,
        out,
    ]


@scenarios
def is_view_and_base(T):
    x = T.ones(2, 3)
    v = x[0]
    w = v[1:]
    y = leaf(T, 2, 3)
    return [
        (one._is_view(), one._base is x)
        for one in (x, v, w, x.t(), x.detach(), x.data, x.view(6), x.contiguous(), x.clone(), x.expand(2, 2, 3))
    ] + [(one._is_view(), one._base is y) for one in (y[0], y.detach(), y.unbind()[0], y.view_as(y), y.reshape(6))]


@scenarios
def inplace_on_detached_view_of_graph(T):
    x = leaf(T, 2, 3)
    y = x * 1
    d = y.detach()[0]
    d.mul_(0)
    z = y.sum()
    z.backward()
    return x.grad, y._version, d._version, d._base is None


@scenarios.each(
    shifted=lambda T, x: x[1:].add_(x[:-1]),
    all=lambda T, x: x.add_(x),
    same_part=lambda T, x: x[1:].add_(x[1:]),
    transposed=lambda T, x: x[:4].view(2, 2).add_(x[:4].view(2, 2).t()),
    one_element=lambda T, x: x.div_(x[0]),
    copied=lambda T, x: x[1:].copy_(x[:-1]),
    assigned=lambda T, x: x.__setitem__(slice(1, None), x[:-1]),
    apart=lambda T, x: x[:3].add_(x[3:]),
    interleaved=lambda T, x: x[::2].mul_(x[1::2]),
    third_operand=lambda T, x: x[1:].addcmul_(x[1:], x[:-1]),
    bound=lambda T, x: x.clamp_(min=x[0]),
    filled=lambda T, x: x.fill_(x[1]),
    empty=lambda T, x: x[6:].add_(x[:0]),
)
def operands_in_the_targets_memory(T, case):
    x = T.arange(6.0)
    outcome = caught(lambda: case(T, x))
    return outcome, x, x._version
