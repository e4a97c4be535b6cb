"""Taking a model's inner values by its graph, in the way that libraries of models do it."""

import pytest

import mindtorch as mt
import mindtorch.fx

from .programs import play

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.fx", reason="oracle")

PROGRAM = """
from {name}.fx.graph_module import _copy_attr

class PathTracer(fx.Tracer):
    "Notes for each node the path of the module that made it."
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.path = ""
        self.paths = {}
    def call_module(self, m, forward, args, kwargs):
        before = self.path
        try:
            self.path = self.path_of_module(m)
            return super().call_module(m, forward, args, kwargs)
        finally:
            self.path = before
    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *rest):
        proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr)
        self.paths[proxy.node] = self.path or str(proxy.node)
        return proxy

class Dual(fx.GraphModule):
    "Two graphs over one set of parameters, for training and for evaluation."
    def __init__(self, root, train_graph, eval_graph, class_name="Dual"):
        super(fx.GraphModule, self).__init__()
        self.__class__.__name__ = class_name
        self.train_graph, self.eval_graph = train_graph, eval_graph
        for node in [*train_graph.nodes, *eval_graph.nodes]:
            if node.op in ("get_attr", "call_module"):
                _copy_attr(root, self, node.target)
        self.train()
        self.graph = train_graph
        self._tracer_cls = None
    def train(self, mode=True):
        if mode and not self.training:
            self.graph = self.train_graph
        elif not mode and self.training:
            self.graph = self.eval_graph
        return super().train(mode=mode)

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.bn = nn.BatchNorm2d(width)
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        out = F.relu(self.bn(self.conv(x)))
        return F.dropout(out, 0.5, self.training) + x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.layers = nn.Sequential(Block(4), Block(4))
        self.head = nn.Linear(4, 2)
    def forward(self, x):
        x = self.layers(self.stem(x))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))

def features(model, wanted):
    graphs = []
    for mode in (True, False):
        model.train(mode)
        tracer = PathTracer()
        gm = fx.GraphModule(tracer.root if False else model, tracer.trace(model), "Net")
        by_path = {}
        for node in gm.graph.nodes:
            if node.op != "output":
                by_path[tracer.paths[next(n for n in tracer.paths if n.name == node.name)]] = node
        output = gm.graph.output_node()
        gm.graph.erase_node(output)
        with gm.graph.inserting_after(list(gm.graph.nodes)[-1]):
            gm.graph.output({name: by_path[name] for name in wanted})
        gm.graph.eliminate_dead_code()
        gm.recompile()
        graphs.append((gm, str(gm.graph)))
    return Dual(model, graphs[0][0].graph, graphs[1][0].graph), [text for _, text in graphs]

model = Net()
for number, p in enumerate(model.parameters()):
    p.data.fill_(0.01 * number)
dual, texts = features(model, ["stem", "layers.0", "layers.1.conv"])
x = torch.arange(48.).view(1, 3, 4, 4)
dual.eval()
seen = dual(x)
codes = [dual.train().code, dual.eval().code]
out = [texts, codes, {k: v.sum() for k, v in seen.items()}, str(dual), copy.deepcopy(model).training]
"""


def test_inner_values_of_a_model() -> None:
    """Nodes are found by the path of their module; the rest of the graph goes; two graphs share the parameters."""
    ours, theirs = (play(T, PROGRAM.replace("{name}", T.__name__)) for T in (mt, torch))
    assert isinstance(theirs[0], list)
    assert ours == theirs
