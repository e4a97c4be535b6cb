"""`functorch.dim` beside torch's: what programs with first-class dimensions print, or the error they end with."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch as mt
from mindtorch._functorch_package import dim as ours

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("functorch.dim", reason="oracle")

PROGRAMS = """
i, j, k = dims(); (A[i, k] * B[k, j]).sum(k)
i, j, k = dims(3); i, j, k, i.is_bound
i, j, k = dims(); r = (A[i, k] + B[k, j]).sum(k); r.dims, r.ndim, r.order(i, j), r.order(j, i)
i, j = dims(sizes=[2, None]); x = A[i, j]; x, x.shape, x.size(), x.dim(), x.dtype, x.device, x.requires_grad
i, j = dims(); x = A[i, j]; x.order(j, i), x.order((i, j)), x.order((j, i)), x.sum()
i, j = dims(); x = A[i, j]; x.sum((i, j)), x.softmax(dim=j).order(i, j)
i, j = dims(); [repr(one) for one in A[i, j].max(dim=j)], A[i, j].argmax(j), A[i, j].std(j)
i, j = dims(); A[i, j].mean((i, j)), A[i, j].var(j, True)
i = dims(); type(i).__name__, i
i, j = dims(); C[i, i]
i, j = dims(); j.size = 4; y = torch.arange(24.0)[(i, j),]; y, i.size
i, j = dims(); idx = torch.tensor([2, 0]); B[idx[i], j], B[idx[i]], B[idx]
i, j = dims(); idx = torch.tensor([2, 0]); C[idx[i], idx[j]], C[idx[i], idx[i]], C[idx[i], 1:], C[1:, idx[i]]
i, j = dims(); x = torch.zeros(2, 3); x[i, j] = A[i, j] * 2; x
i, j = dims(); x = torch.zeros(2, 3); x[i, 1] = A[i, 0]; x
i, j = dims(); x = torch.ones(4, 4); x[i, i] = 5.0; x
i, j = dims(); x = torch.zeros(3, 3); idx = torch.tensor([2, 0]); x[idx[i], idx[i]] = torch.tensor([7.0, 8])[i]; x
i, j, k = dims(); x = torch.zeros(2, 3); x[i, j] = B[j, k]
i, j, n = dims(); stack([A[i, j], A[i, j]], n), stack([A[i], A[i] + 1], n, 0), stack([A[i, j], A[i, j]], n, j), n.size
i, j, n = dims(); cat([A[i, j], A[i, j] + 1], j, n), n.size
i, a, b = dims(); a.size = 1; [repr(one) for one in A[i].split([a, b])]
i, a, b = dims(); [repr(one) for one in B.split([a, b])]
i, a, b = dims(); [repr(one) for one in A[i].split([1, 2], 0)], [repr(one) for one in A[i].split(2, dim=0)]
i, a, b = dims(); a.size = 5; A[i].split([a, b])
i, a, b = dims(); a.size = 1; b.size = 1; A[i].split([a, b])
i, a, b = dims(); A[i].split([a, 1])
i, j, k = dims(); A[i, j].expand(k)
i, j, k = dims(); k.size = 2; A[i, j].expand(k), A[i].expand(5, 3).order(i)
i, j, k = dims(); A[i, j].expand(j)
i, j = dims(); torch.mm(torch.ones(2, 2, 3)[i], B), F.linear(A[i], torch.ones(5, 3)), torch.sin(A[i, j])
i, j = dims(); i.size
i, j = dims(); i.size = 2; i.size = 3
i, j = dims(); A[i, j].order(i)
i, j, k = dims(); A[i, j].order(i, k)
i, j, k = dims(); A[i, j].order(i, i)
i, j = dims(); A[i].order(0), A[i].order(-1, i), A[i].order(i, 0)
i, j = dims(); A[i, j].sum(j, keepdim=True)
i, j = dims(); A[i].sum(0, keepdim=True), A[i].sum(-1), A[i][0], A[i].unsqueeze(0), A[i].transpose(0, 0)
i, j, k = dims(); A[i, j].sum(k)
i, j = dims(); x = A.clone().requires_grad_(); y = (x[i, j] ** 2).sum((i, j)); y.backward(); y, x.grad
i, j, k = dims(); A[i, j, k]
i, j = dims(); hash(i) == hash(i), {i: 1}[i], bool(A[i, j].is_floating_point()), len(A[i])
i, j = dims(); A[i, j].item()
i, j = dims(); A.index(0, i), index(A, (0, 1), (i, j))
i, j, k = dims(); x = A[i, j]; x.index((i, j), k), x.index(i, 0), x.index([i], [torch.tensor([1, 0])])
i, j, k = dims(); A[i, j].index((i, j), (k, k, i))
i, j, k = dims(); A[i, j].index((i, k), j)
i, j, k = dims(); A[i, j].index([i, j], [k])
i, j = dims(); [repr(one) for one in A[i, j].unbind(j)], A[i, j].cumsum(j), A[i, j].sort(j, True)[1]
i, j = dims(); x = A[i]; x.view(3, 1), torch.cat([x, x]), torch.where(x > 1, x, 0.0), x.reshape(1, 3), x.T
i, j = dims(); dims(2), dims(1), dims(sizes=[2, 3])
dims(3, sizes=[1, 2])
dims()
i, j = dims(); A[i, j] @ A[i, j]
i, j = dims(); x = A.clone(); y = x[i, j]; y += 1; y.add_(2); y, x
i, j = dims(); x = A[i, j]; x.to(torch.float64), x.clone(), torch.zeros_like(x), 1 - x, -x
i, j = dims(); x = A[i, j]; x // 2, 2**x, x % 2, x == 1, x.int() & 1
i, j = dims(); A[..., i], A[:, i], A[1, i], A[-1, None, i]
i, j = dims(); A[i, ...], A[i, :], A[None, i], A[i, None], A[i, 1:], A[i, -1]
i = dims(); A[i, [0, 2]], A[i, torch.tensor([True, False, True])]
i, j, k = dims(); j.size = 5; A[i, (j, k)]
i, j, k = dims(); A[i, (j, k)]
i, j, k = dims(); j.size = 1; k.size = 2; A[i, (j, k)]
a, b = dimlists(); a, b, a.is_bound
a, b = dimlists(); a.bind([2, 3]); a, len(a), a[0], a[0:2], a.size()
a, b = dimlists(); a.bind([2, 3]); x = torch.ones(2, 3, 4)[a, ...]; x, x.order(a).shape, x.order(*a).shape
a, b = dimlists(); x = torch.ones(2, 3, 4)[a, 1]; x.dims, x.shape
a, b = dimlists(sizes=[2, [3, 4]]); a, b, b[1].size
a, b = dimlists(); len(a)
a, b = dimlists(); a.bind([2, 3]); a.bind_len(3)
a, b = dimlists(); torch.ones(2, 3)[a, b]
DimList(2), DimList([2, 3]), DimList(name="q"), DimList()
i = dims(); layer = torch.nn.Linear(3, 2).requires_grad_(False); layer.weight.fill_(0.5); layer.bias.fill_(1); layer(A[i])
i = dims(); torch.nn.ReLU()(A[i] - 1.5)
i, j = dims(); softmax(A[i, j], dim=j), torch.softmax(A[i, j], dim=i), F.layer_norm(A[i], (3,)), A[i].norm()
i, j, k = dims(); q, w = A[i, k], A[j, k]; ((q * w).sum(k) / 2).softmax(dim=j).order(i, j)
i, j = dims(); bool(A[i, j].sum((i, j)) > 1), float(A[i, j].sum((i, j)))
"""


def _last(program: str, library: Any, dim: Any) -> Any:
    scope = {name: getattr(dim, name) for name in "dims dimlists DimList stack cat split index softmax".split()}
    scope |= {"torch": library, "F": library.nn.functional}
    scope |= {"A": library.arange(6.0).reshape(2, 3), "B": library.arange(12.0).reshape(3, 4)}
    scope |= {"C": library.arange(9.0).reshape(3, 3)}
    *setup, call = program.split("; ")
    # The names that dimensions take are those of the statement's targets.
    exec("\n".join(setup), scope)
    return eval(call, scope)


def _printed(program: str, library: Any, dim: Any) -> str:
    try:
        return repr(_last(program, library, dim))
    except (RuntimeError, ValueError, TypeError, SyntaxError, IndexError, dim.DimensionBindError) as error:
        return f"{type(error).__module__}.{type(error).__name__}: {error}"


@pytest.mark.parametrize("program", [line for line in PROGRAMS.splitlines() if line])
def test_program_is_as_in_torch(program: str) -> None:
    assert _printed(program, mt, ours) == _printed(program, torch, theirs)


def test_a_matrix_is_added_to_rows() -> None:
    """torch asserts on the order of positions here; they are matched from the end, as without dimensions."""
    i = ours.dims()
    x = mt.arange(6.0).reshape(2, 3)
    found = (x[i] + mt.ones(4, 3)).order(i)
    assert found.shape == (2, 4, 3)
    assert bool((found == x[:, None] + 1).all())


def test_a_dimension_is_a_range_in_arithmetic() -> None:
    """torch 2.13 raises NotImplementedError for `i + 1`."""
    i, j = ours.dims(sizes=[2, 3])
    assert (i * 10 + j).order(i, j).tolist() == [[0, 1, 2], [10, 11, 12]]


def test_a_bound_dimension_refuses_another_size() -> None:
    """torch binds `i` of size 2 to the 3 rows without a word."""
    i = ours.dims()
    mt.ones(2)[i]
    with pytest.raises(
        ours.DimensionBindError, match="bound to a dimension of size 2 cannot bind to a dimension of size 3"
    ):
        mt.ones(3)[i]


def test_names_come_from_all_kinds_of_targets() -> None:
    class Holder:
        first: Any

    def closed() -> Any:
        inner, other = ours.dims()
        return lambda: (inner, other)

    holder = Holder()
    holder.first, second = ours.dims()
    local, pair = ours.dims()
    assert [repr(one) for one in (holder.first, second, local, pair)] == ["d0", "d1", "local", "pair"]
    assert [repr(one) for one in closed()()] == ["inner", "other"]
