"""Graphs made and changed by hand: what each method does, and what it refuses."""

from pathlib import Path

import pytest

import mindtorch as mt
import mindtorch.fx

from .programs import play

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.fx", reason="oracle")

MADE = """
g = fx.Graph()
x = g.placeholder("x")
a = g.call_function(torch.relu, (x,))
b = g.call_function(torch.add, (a, a))
o = g.output(b)
other = fx.Graph()
z = other.placeholder("z")
def code(graph=g, **look):
    return graph.python_code("self", **look).src
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.weight = nn.Parameter(torch.ones(2))
    def forward(self, x):
        return self.first(x) + self.weight
gm = fx.symbolic_trace(Two())
nodes = {n.name: n for n in gm.graph.nodes}
out = None
"""

CASES = Path(__file__).with_name("graph_cases.txt").read_text().splitlines()


@pytest.mark.parametrize("case", CASES)
def test_graph(case: str) -> None:
    """One call, or a few, on a graph of three nodes, on a traced module, on an empty graph."""
    source = MADE + (case.replace(")\\n", ")\n").replace("]\\n", "]\n") if case.startswith("with ") else case)
    assert play(mt, source) == play(torch, source)


NAMES = "a a a_1 a_2 a a_5 a_5 b_3 b b 1x x.y if if_1 abs_2 abs x_1_2 x_1_2 x_1 c_0 c_0 d_01 d_01 nan device torch _ _ _0 _0 é"


def test_names() -> None:
    """Names are made unique as torch makes them."""
    made = [(mt.fx.graph._Namespace(), torch.fx.graph._Namespace())]
    ours, theirs = made[0]
    for name in NAMES.split():
        assert ours.create_name(name, None) == theirs.create_name(name, None)
