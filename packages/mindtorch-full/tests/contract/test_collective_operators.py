"""Collectives as operators, `torch.ops._c10d_functional.*` and `torch.ops.c10d.*`, in a group of one process."""

import pytest

import mindtorch as mt
from mindtorch import distributed as dist
from mindtorch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
from mindtorch.distributed.tensor.experimental import local_map, register_sharding


@pytest.fixture
def world(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield dist.group.WORLD
    dist.destroy_process_group()


def test_functional_collectives_are_operators_with_gradients(world):
    ops, name = mt.ops._c10d_functional, world.group_name
    given = mt.arange(4.0).requires_grad_()
    gathered = ops.wait_tensor(ops.all_gather_into_tensor(given, 1, name))
    ops.reduce_scatter_tensor(gathered * 3, "sum", 1, name).sum().backward()
    assert given.grad.tolist() == [3.0] * 4
    target = mt.ones(3)
    assert ops.all_reduce_(target, "sum", name) is target
    assert [one.tolist() for one in ops.all_reduce_coalesced([target, target * 2], "max", world)] == [
        [1.0] * 3,
        [2.0] * 3,
    ]
    assert ops.all_gather_into_tensor_out(target, 1, name, out=mt.zeros(3)).tolist() == [1.0] * 3
    assert mt.ops.c10d_functional.all_reduce(target, "sum", "", [0], 1).tolist() == [1.0] * 3


def test_methods_of_a_group_are_operators(world):
    ops, one, out = mt.ops.c10d, mt.ones(2), mt.zeros(2)
    results, work = ops.scatter_([out], [[one * 5]], world, 0)
    work.wait()
    assert results[0].tolist() == out.tolist() == [5.0, 5.0]
    _, work = ops._allgather_base_(out, one, world)
    work.wait()
    assert out.tolist() == [1.0, 1.0]
    _, work = ops.allreduce_([out], world, dist.ReduceOp.SUM, None)
    work.wait()
    assert str(ops.scatter_.default._schema).startswith(
        "c10d::scatter_(Tensor[] output_tensors, Tensor[][] input_tensors"
    )


def test_a_group_of_another_size_is_refused(world):
    with pytest.raises(RuntimeError, match="the call says 2"):
        mt.ops._c10d_functional.all_gather_into_tensor(mt.ones(2), 2, world.group_name)


def test_local_map_takes_and_gives_spread_tensors(world):
    mesh = init_device_mesh("cpu", (1,))
    product = local_map(mt.mm, out_placements=[Replicate()], in_placements=([Shard(1)], [Shard(0)]))
    left, right = mt.ones(2, 3, requires_grad=True), mt.ones(3, 2)
    spread = distribute_tensor(left, mesh, [Shard(1)])
    result = product(spread, distribute_tensor(right, mesh, [Shard(0)]))
    assert result.placements == (Replicate(),)
    result.full_tensor().sum().backward()
    assert spread.grad.full_tensor().tolist() == [[2.0] * 3] * 2
    assert product(left, right).tolist() == [[3.0, 3.0]] * 2
    with pytest.raises(ValueError, match="mismatched placements"):
        product(distribute_tensor(left, mesh, [Shard(0)]), distribute_tensor(right, mesh, [Shard(0)]))
    with pytest.raises(AssertionError, match="received 1 out_placements but 2 is expected"):
        local_map(lambda x: (x, x), out_placements=[Shard(0)])(spread)


def test_a_program_gives_the_rule_of_its_operator(world):
    @mt.library.custom_op("collectives_test::double_rows", mutates_args=())
    def double_rows(x: mt.Tensor, factor: int) -> mt.Tensor:
        return x * factor

    @double_rows.register_fake
    def _(x, factor):
        return mt.empty_like(x)

    mesh = init_device_mesh("cpu", (1,))
    overload = mt.ops.collectives_test.double_rows.default
    spread = distribute_tensor(mt.ones(4, 2), mesh, [Shard(0)])
    assert overload(spread, 3).placements == (Replicate(),)

    @register_sharding(overload)
    def rows(x, factor):
        assert tuple(x.shape) == (4, 2)
        return [([Replicate()], [Replicate(), None]), ([Shard(0)], [Shard(0), None])]

    result = overload(spread, 3)
    assert result.placements == (Shard(0),)
    assert result.full_tensor().tolist() == [[3.0, 3.0]] * 4
    assert overload(distribute_tensor(mt.ones(4, 2), mesh, [Shard(1)]), 3).placements == (Replicate(),)
