"""The recorded graph: node names, edges, order, the node's interface."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught, graph

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def leaf(T: Any, *shape: int, start: float = 0.5) -> Any:
    count = 1
    for extent in shape:
        count *= extent
    return (T.arange(count, dtype=T.float32).reshape(shape) * 0.25 + start).requires_grad_()


@scenarios
def mlp(T):
    T.manual_seed(0)
    net = T.nn.Sequential(T.nn.Linear(4, 5), T.nn.ReLU(), T.nn.Linear(5, 3))
    out = T.nn.functional.cross_entropy(net(T.ones(2, 4)), T.tensor([0, 2]))
    return graph(out.grad_fn)


@scenarios
def bert_like_block(T):
    T.manual_seed(0)
    F = T.nn.functional
    x = leaf(T, 2, 3, 4)
    q, k, v = (T.nn.Linear(4, 4) for _ in range(3))
    norm = T.nn.LayerNorm(4)
    heads = lambda t: t.view(2, 3, 2, 2).transpose(1, 2)  # noqa: E731
    scores = T.matmul(heads(q(x)), heads(k(x)).transpose(-1, -2)) / 2.0 + T.zeros(2, 1, 1, 3)
    mixed = T.matmul(F.softmax(scores, dim=-1), heads(v(x))).permute(0, 2, 1, 3).contiguous().view(2, 3, 4)
    out = F.gelu(norm(mixed + x))
    return graph(out.pow(2).mean().grad_fn)


@scenarios
def embedding_and_indexing(T):
    table = leaf(T, 5, 3)
    picked = T.nn.functional.embedding(T.tensor([1, 4, 1]), table)
    return graph((picked[:, 0] + picked[1] * picked[..., -1].sum()).sum().grad_fn)


SINGLE = {
    "add": lambda T, a, b: a + b,
    "add_scalar": lambda T, a, b: a + 1,
    "radd": lambda T, a, b: 1 + a,
    "sub": lambda T, a, b: a - b,
    "rsub": lambda T, a, b: 1 - a,
    "mul": lambda T, a, b: a * b,
    "mul_scalar": lambda T, a, b: a * 2,
    "div": lambda T, a, b: a / b,
    "rdiv": lambda T, a, b: 1 / a,
    "pow_scalar": lambda T, a, b: a**2,
    "pow_tensor": lambda T, a, b: a**b,
    "rpow": lambda T, a, b: 2**a,
    "neg": lambda T, a, b: -a,
    "abs": lambda T, a, b: abs(a),
    "matmul_2d": lambda T, a, b: a @ b.t(),
    "matmul_vec": lambda T, a, b: a @ b[0],
    "dot": lambda T, a, b: a[0] @ b[0],
    "matmul_batched": lambda T, a, b: a.expand(2, 2, 3) @ b.t(),
    "addmm": lambda T, a, b: T.addmm(T.ones(2), a, b.t()),
    "sum": lambda T, a, b: a.sum(),
    "sum_dim": lambda T, a, b: a.sum(1),
    "mean": lambda T, a, b: a.mean(),
    "mean_dim": lambda T, a, b: a.mean(0, keepdim=True),
    "max": lambda T, a, b: a.max(),
    "max_dim": lambda T, a, b: a.max(1).values,
    "prod": lambda T, a, b: a.prod(),
    "var": lambda T, a, b: a.var(),
    "std": lambda T, a, b: a.std(0),
    "norm": lambda T, a, b: a.norm(),
    "exp": lambda T, a, b: a.exp(),
    "log_softmax": lambda T, a, b: a.log_softmax(1),
    "relu": lambda T, a, b: a.relu(),
    "tanh": lambda T, a, b: a.tanh(),
    "sigmoid": lambda T, a, b: a.sigmoid(),
    "clamp": lambda T, a, b: a.clamp(0, 1),
    "clamp_min": lambda T, a, b: a.clamp(min=0),
    "where": lambda T, a, b: T.where(a > b, a, b),
    "cat": lambda T, a, b: T.cat([a, b, a]),
    "stack": lambda T, a, b: T.stack([a, b]),
    "chunk": lambda T, a, b: a.chunk(2)[1],
    "split": lambda T, a, b: a.split([1, 2], 1)[1],
    "unbind": lambda T, a, b: a.unbind()[1],
    "view": lambda T, a, b: a.view(6),
    "view_as": lambda T, a, b: a.view_as(b),
    "reshape": lambda T, a, b: a.reshape(3, 2),
    "reshape_copy": lambda T, a, b: a.t().reshape(6),
    "flatten": lambda T, a, b: a.flatten(),
    "t": lambda T, a, b: a.t(),
    "T": lambda T, a, b: a.T,
    "mT": lambda T, a, b: a.mT,
    "transpose": lambda T, a, b: a.transpose(0, 1),
    "permute": lambda T, a, b: a.permute(1, 0),
    "expand": lambda T, a, b: a.expand(2, 2, 3),
    "squeeze": lambda T, a, b: a[None].squeeze(),
    "squeeze_dim": lambda T, a, b: a[None].squeeze(0),
    "unsqueeze": lambda T, a, b: a.unsqueeze(1),
    "index": lambda T, a, b: a[T.tensor([0, 1])],
    "mask": lambda T, a, b: a[a > 1],
    "slice": lambda T, a, b: a[:, 1:],
    "ellipsis_none": lambda T, a, b: a[..., None],
    "getitem_full": lambda T, a, b: a[:],
    "gather": lambda T, a, b: a.gather(1, T.zeros(2, 1, dtype=T.int64)),
    "scatter": lambda T, a, b: a.scatter(1, T.zeros(2, 1, dtype=T.int64), b),
    "masked_fill": lambda T, a, b: a.masked_fill(a > 1, 0.0),
    "index_select": lambda T, a, b: a.index_select(0, T.tensor([1])),
    "clone": lambda T, a, b: a.clone(),
    "contiguous": lambda T, a, b: a.t().contiguous(),
    "contiguous_same": lambda T, a, b: a.contiguous() * 1,
    "to_double": lambda T, a, b: a.double(),
    "to_same": lambda T, a, b: a.float() * 1,
    "tril": lambda T, a, b: a.tril(),
    "cumsum": lambda T, a, b: a.cumsum(0),
    "topk": lambda T, a, b: a.topk(1)[0],
    "sort": lambda T, a, b: a.sort()[0],
    "flip": lambda T, a, b: a.flip(0),
    "repeat": lambda T, a, b: a.repeat(2, 1),
    "lerp": lambda T, a, b: T.lerp(a, b, 0.3),
    "addcmul": lambda T, a, b: T.addcmul(a, a, b),
    "maximum": lambda T, a, b: T.maximum(a, b),
    "linear": lambda T, a, b: T.nn.functional.linear(a, b),
    "linear_bias": lambda T, a, b: T.nn.functional.linear(a, b, b.sum(1)),
    "layer_norm": lambda T, a, b: T.nn.functional.layer_norm(a, (3,)),
    "mse": lambda T, a, b: T.nn.functional.mse_loss(a, b),
    "unfold": lambda T, a, b: a.unfold(1, 2, 1),
    "diagonal": lambda T, a, b: a.diagonal(),
    "narrow": lambda T, a, b: a.narrow(1, 1, 2),
    "select": lambda T, a, b: a.select(1, 1),
    "alias": lambda T, a, b: T.ops.aten.alias(a),
    "as_strided": lambda T, a, b: a.as_strided((2, 2), (1, 1)),
    "movedim": lambda T, a, b: a.movedim(0, 1),
    "einsum": lambda T, a, b: T.einsum("ij,kj->ik", a, b),
    "logsumexp": lambda T, a, b: a.logsumexp(1),
    "real_conj": lambda T, a, b: a.conj() * 1,
    "complex": lambda T, a, b: T.complex(a, b),
    "float_long": lambda T, a, b: a * T.arange(3),
}


@scenarios.each(**SINGLE)
def single_op(T, case):
    a, b = leaf(T, 2, 3), leaf(T, 2, 3, start=1.0)
    out = case(T, a, b)
    weight = T.ones_like(out.detach())
    out.backward(weight)
    return graph(out.grad_fn), a.grad, b.grad, out.detach(), out.is_leaf, out.output_nr, out._is_view()


@scenarios
def inplace_chain(T):
    x = leaf(T, 3)
    y = x * 2
    y += 1
    y.mul_(x)
    y.exp_()
    y.sum().backward()
    return graph(y.grad_fn), x.grad, y._version


@scenarios
def copy_slices(T):
    x = leaf(T, 2, 3)
    y = x * 1
    y[0].fill_(5.0)
    y[1, 1:].mul_(x[0, 1:])
    y.sum().backward()
    return graph(y.grad_fn), x.grad


@scenarios
def setitem_of_tensor(T):
    x, v = leaf(T, 3, 2), leaf(T, 2, start=3.0)
    y = x.clone()
    y[1] = v
    y[T.tensor([0, 2]), 0] = v * 2
    y.pow(2).sum().backward()
    return graph(y.grad_fn), x.grad, v.grad


@scenarios
def view_of_view_regenerates(T):
    x = leaf(T, 2, 3)
    y = x * 1
    a = y[0]
    b = a[1:]
    b.mul_(3)
    a.sum().backward(retain_graph=True)
    first = x.grad.clone()
    y.sum().backward()
    return graph(a.grad_fn), graph(b.grad_fn), graph(y.grad_fn), first, x.grad


@scenarios
def detached_shares_nothing_but_bytes(T):
    x = leaf(T, 3)
    y = x * 2
    d = y.detach()
    d.add_(1)
    return d.grad_fn, d.requires_grad, d._is_view(), d._base is None, y._version, d._version, y.detach()


@scenarios
def detach_inplace(T):
    x = leaf(T, 3)
    y = x * 2
    y.detach_()
    view = (x * 2)[0]
    return y.requires_grad, y.grad_fn, y.is_leaf, caught(view.detach_)


@scenarios
def node_interface(T):
    x = leaf(T, 3)
    node = (x * x).sum().grad_fn
    node.metadata["note"] = 1
    inner = node.next_functions[0][0]
    acc = inner.next_functions[0][0]
    return [
        node.name(),
        type(node).__name__,
        repr(node),
        node.metadata,
        node is inner,
        (x * x).grad_fn.next_functions[0][0] is acc,
        acc.variable is x,
        acc.name(),
        type(acc).__name__,
        acc.next_functions,
        acc._sequence_nr(),
        isinstance(node, T.autograd.graph.Node),
        issubclass(type(node), T.autograd.graph.Node),
        isinstance(acc, T.autograd.graph.Node),
        isinstance(3, T.autograd.graph.Node),
        str(type(node)),
        str(type(acc)),
        node._input_metadata[0].shape,
        node._input_metadata[0].dtype,
        hash(node) == hash(node),
    ]


@scenarios
def node_is_the_same_object(T):
    x = leaf(T, 3)
    y = x * 2
    node = y.grad_fn
    return y.grad_fn is node, (y + 1).grad_fn.next_functions[0][0] is node


@scenarios
def gradient_edge(T):
    x = leaf(T, 3)
    y = x * 2
    edge = T.autograd.graph.get_gradient_edge(y)
    leaf_edge = T.autograd.graph.get_gradient_edge(x)
    given = T.autograd.grad(edge, x, T.ones(3))
    z = (x * 3).sum()
    return [
        edge.node.name(),
        edge.output_nr,
        leaf_edge.node.name(),
        given,
        T.autograd.grad(z, leaf_edge),
        caught(lambda: T.autograd.graph.get_gradient_edge(T.ones(2))),
        type(edge).__name__,
    ]


@scenarios
def backward_from_and_to_edges(T):
    x = leaf(T, 3)
    y = x * 2
    z = (y * y).sum()
    edge = T.autograd.graph.get_gradient_edge(z)
    T.autograd.backward(edge, inputs=[x])
    return x.grad


@scenarios
def multi_output_numbers(T):
    x = leaf(T, 4, 2)
    parts = x.unbind(0)
    values, indices = x.max(0)
    return [
        [(p.output_nr, p.grad_fn is parts[0].grad_fn) for p in parts],
        values.output_nr,
        indices.grad_fn,
        indices.requires_grad,
        graph((parts[3] * parts[1]).sum().grad_fn),
    ]


@scenarios
def requires_grad_rules(T):
    x = leaf(T, 3)
    y = x * 2
    return [
        caught(lambda: y.requires_grad_(False)),
        caught(lambda: setattr(y, "requires_grad", False)),
        caught(lambda: T.ones(2, dtype=T.int64).requires_grad_()),
        caught(lambda: T.tensor([1], requires_grad=True)),
        caught(lambda: T.ones(2, dtype=T.int32, requires_grad=True)),
        caught(lambda: setattr(x, "requires_grad", 3)),
        caught(lambda: y.requires_grad_(True) is y),
        x.is_leaf,
        y.is_leaf,
        T.ones(2).is_leaf,
        x.detach().requires_grad,
        y.retains_grad,
    ]


@scenarios
def grad_attribute(T):
    x = leaf(T, 3)
    y = x * 2
    results = [x.grad]
    for value in (T.ones(2), T.ones(3, dtype=T.float64), 3, x):
        results.append(caught(lambda value=value: setattr(x, "grad", value)))
    x.grad = T.ones(3)
    results.append(x.grad)
    x.grad = None
    results.append(x.grad)
    x.grad = T.ones(3)
    del x.grad
    results.append(x.grad)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        results.append(y.grad)
    return results, [str(one.message).partition(" (Triggered")[0] for one in seen]


@scenarios
def to_and_type_conversions(T):
    x = leaf(T, 3)
    return [
        graph(x.to(T.float64).grad_fn),
        x.to(T.float32) is x,
        x.to("cpu") is x,
        graph(x.half().float().grad_fn),
        x.long().requires_grad,
        x.bool().grad_fn,
        x.int().grad_fn,
    ]
