"""More dimensions than numpy's arrays have: torch's answer where geometry is enough, else a refusal that names the op."""

import pytest

import mindtorch as mt
from mindtorch_storage.deferred import MOST_DIMENSIONS
from mindtorch_testing import assert_same_value

MANY = [MOST_DIMENSIONS + 1, 70]

GEOMETRY = {
    "view": lambda t, shape: t.view(shape),
    "reshape": lambda t, shape: t.reshape(shape),
    "expand": lambda t, shape: t[:1].expand([*shape[:-1], 6]),
    "as_strided": lambda t, shape: t.as_strided(shape, [1] * len(shape)),
    "back": lambda t, shape: t.view(shape).view(-1),
    "flatten": lambda t, shape: t.view(shape).flatten(),
    "squeeze": lambda t, shape: t.view(shape).squeeze(),
    "transposed": lambda t, shape: t.view(shape).transpose(0, -1).permute(*reversed(range(len(shape)))).squeeze(),
    "select": lambda t, shape: t.view(shape).select(-1, 4).flatten(),
    "chosen": lambda t, shape: t.view(shape)[..., 2:5].squeeze(),
    "detach": lambda t, shape: t.view(shape)[0][0][0][0][0][0][0].squeeze().detach() + 1,
}


@pytest.mark.parametrize("ndim", MANY)
@pytest.mark.parametrize("name", GEOMETRY)
def test_geometry_is_torchs(name, ndim):
    torch = pytest.importorskip("torch", reason="oracle")
    shape = [1] * (ndim - 1) + [6]
    ours = GEOMETRY[name](mt.arange(6.0), shape)
    theirs = GEOMETRY[name](torch.arange(6.0), shape)
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert ours.stride() == theirs.stride()
    assert (ours.dim(), ours.numel(), ours.storage_offset()) == (theirs.dim(), theirs.numel(), theirs.storage_offset())
    if ours.dim() <= MOST_DIMENSIONS:
        assert_same_value(lambda: ours, lambda: theirs)


NEEDS = {
    "add": lambda shape: mt.ones(1) + mt.ones(1).view(shape),
    "clone": lambda shape: mt.ones(1).view(shape).clone(),
    "cat": lambda shape: mt.cat([mt.ones(1).view(shape)] * 2),
}


@pytest.mark.parametrize("ndim", MANY)
@pytest.mark.parametrize("name", NEEDS)
def test_an_operator_that_needs_elements_refuses_by_name(name, ndim):
    for _ in range(2):
        with pytest.raises(RuntimeError, match=rf"{name}[.\w]*: only tensors with up to {MOST_DIMENSIONS} dims"):
            NEEDS[name]([1] * ndim)


@pytest.mark.parametrize("ndim", MANY)
@pytest.mark.parametrize("call", [mt.sum, mt.Tensor.tolist, mt.Tensor.item, mt.Tensor.numpy, repr, lambda t: t.max(0)])
def test_what_reads_elements_refuses(call, ndim):
    tensor = mt.ones(1).view([1] * ndim)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=f"only tensors with up to {MOST_DIMENSIONS} dims are supported"):
            call(tensor)
    assert (mt.ones(1) + 1).item() == 2.0


@pytest.mark.parametrize("ndim", MANY)
def test_what_fills_its_result_knows_no_bound(ndim):
    tensor = mt.ones([1] * (ndim - 1) + [3])
    assert tensor.shape[-1] == 3
    assert tensor.view(-1).tolist() == [1.0] * 3
    assert tensor.add_(1).view(-1).tolist() == [2.0] * 3


def test_a_gradient_passes_through_views():
    leaf = mt.arange(6.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="only tensors with up to"):
        leaf.view([1] * 69 + [6]).sum()
    leaf.view([1] * 69 + [6]).view(-1).sum().backward()
    assert leaf.grad.tolist() == [1.0] * 6
