"""`torch.distributed.tensor.debug` beside torch's, in a world of four processes of which one is there."""

import importlib
import json
import types

import pytest

pytest.importorskip("torch", reason="oracle")


@pytest.fixture(params=["mindtorch", "torch"])
def library(request):
    """The names of a library, its world set up."""
    names = types.SimpleNamespace(T=importlib.import_module(request.param))
    for name in ("distributed", "distributed.tensor", "distributed.tensor.debug", "distributed.tensor.parallel"):
        setattr(names, name.rpartition(".")[2], importlib.import_module(f"{request.param}.{name}"))
    if request.param == "torch":
        importlib.import_module("torch.testing._internal.distributed.fake_pg")
    names.distributed.init_process_group("fake", rank=0, world_size=4)
    names.mesh = names.distributed.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    yield names
    names.distributed.destroy_process_group()


def model(library):
    """Two layers, cut by columns and by rows."""
    nn, parallel = library.T.nn, library.parallel

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 6)

        def forward(self, x):
            return self.b(self.a(x).relu())

    plan = {"a": parallel.ColwiseParallel(), "b": parallel.RowwiseParallel()}
    return parallel.parallelize_module(Two(), library.mesh["tp"], plan)


def of_torch(text):
    """A text with torch's names."""
    return str(text).replace("mindtorch", "torch")


RECORDED = {}


def agree(name, library, found):
    """Both libraries say the same; ours comes first."""
    assert RECORDED.setdefault(name, found) == found


def test_collectives_are_counted_by_module(library, tmp_path):
    two, mode = model(library), library.debug.CommDebugMode()
    with mode:
        out = two(library.T.ones(3, 6, requires_grad=True))
        out.sum().backward()
        library.distributed.all_reduce(library.T.ones(2))
    mode.generate_json_dump(str(tmp_path / "dump.json"), noise_level=1)
    mode.log_comm_debug_tracing_table_to_file(str(tmp_path / "table.txt"), noise_level=1)
    by_module = {
        name: {way: {str(op): n for op, n in counts.items()} for way, counts in both.items()}
        for name, both in mode.comm_module_counts.items()
    }
    agree("counts", library, {str(op): n for op, n in mode.get_comm_counts().items()})
    agree("total", library, [mode.get_total_counts(), repr(mode)])
    agree("modules", library, by_module)
    agree("sharding", library, {name: repr(placed) for name, placed in mode.get_sharding_info().items()})
    agree("parameters", library, {name: sorted(held) for name, held in mode.get_parameter_info().items()})
    agree("table 0", library, of_torch(mode.generate_comm_debug_tracing_table(0)))
    agree("file", library, forward_of(of_torch((tmp_path / "table.txt").read_text())))
    agree("dump", library, shape_of(json.loads((tmp_path / "dump.json").read_text())))


def forward_of(table):
    """What a table says of modules and their parameters: derivatives are made of other operators here and there."""
    return [
        line for line in table.splitlines() if "**" not in line and "PASS" not in line and ":" not in line.strip("* ")
    ]


def shape_of(dumped):
    """The tree of modules with its collectives."""
    return [dumped["fqn"], of_torch(dumped["module_type"]).rpartition(".")[2], dumped["parameters"],
            dumped["collectives_forward"], dumped["collectives_backward"], list(map(shape_of, dumped["children"]))]  # fmt: skip


def test_what_a_spread_tensor_says_of_itself(library):
    placements = [library.tensor.Shard(0), library.tensor.Shard(1)]
    spread = library.tensor.distribute_tensor(library.T.zeros(4, 6), library.mesh, placements)
    spec = spread._spec
    agree("spec", library, [str(spec), of_torch(spec.tensor_meta), spec.dim_map, spec.num_shards, spec.is_sharded()])
    again = type(spread)(spread.to_local(), spec, requires_grad=False)
    agree("again", library, [repr(again.placements), list(again.shape), again._spec == spec])


def test_parts_are_drawn_by_tabulate(library, monkeypatch, capsys):
    given = []
    tabulate = types.ModuleType("tabulate")
    tabulate.__spec__ = importlib.machinery.ModuleSpec("tabulate", None)
    tabulate.tabulate = lambda cells, headers, showindex: given.append([cells, headers, showindex]) or "drawn"
    monkeypatch.setitem(importlib.import_module("sys").modules, "tabulate", tabulate)
    for shape, dims in (((4, 6), (0, 1)), ((5, 3), (0, 0)), ((7,), (0, 0))):
        placements = [library.tensor.Shard(dim) for dim in dims]
        spread = library.tensor.distribute_tensor(library.T.zeros(*shape), library.mesh, placements)
        library.debug.visualize_sharding(spread)
    agree("drawn", library, [given, capsys.readouterr().out])
    with pytest.raises(RuntimeError, match="visualize sharding supports only 1D or 2D DTensor"):
        library.debug.visualize_sharding(
            library.tensor.distribute_tensor(library.T.zeros(2, 2, 2), library.mesh, placements)
        )


def test_each_process_draws_numbers_for_its_part(library):
    T, spread = (
        library.T,
        library.tensor.distribute_tensor(library.T.zeros(4, 3), library.mesh["dp"], [library.tensor.Shard(0)]),
    )
    draws = {
        "uniform_": lambda: spread.uniform_(-1, 1),
        "normal_": spread.normal_,
        "kaiming": lambda: T.nn.init.kaiming_uniform_(spread),
        "like": lambda: T.randn_like(spread),
    }
    for name, draw in draws.items():
        T.manual_seed(0)
        drawn, after = draw().to_local(), T.rand(2)
        numbers = [round(number, 5) for number in (*drawn.flatten().tolist(), *after.tolist())]
        agree(name, library, [list(drawn.shape), numbers])
