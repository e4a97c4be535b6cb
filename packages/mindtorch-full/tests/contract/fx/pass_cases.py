"""Programs that use passes over graphs; each leaves what it found in `out`."""

HEAD = """
import importlib, numbers
m = lambda name: importlib.import_module(HOME + ".fx." + name)
def attempt(f):
    try:
        return f()
    except Exception as error:
        return type(error).__name__, str(error)
class Constants(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2, 2))
        self.b = nn.Parameter(torch.ones(2, 2) * 3)
        self.l = nn.Linear(2, 2)
    def forward(self, x):
        a = self.w + self.b
        return self.l(x + a * 2) + a
def diamond(a, b, c):
    d = a + b
    e = torch.relu(d + c)
    h = e * 2
    i = torch.split(h, 1)
    return torch.sigmoid(i[0] + i[1]) + d, h
ADDS = (operator.add, operator.mul, torch.split, operator.getitem)
out = []
"""

CASES = {
    "fuse": """
O = m("experimental.optimization")
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(), nn.Flatten(), nn.Linear(8, 3), nn.BatchNorm1d(3))
net.eval()
x = torch.arange(32.).view(2, 1, 4, 4)
for made in (O.fuse(net), O.remove_dropout(net), O.optimize_for_inference(net, {"mkldnn_layout_optimize": False})):
    out += [str(made.graph), made.code, torch.allclose(made(x), net(x), atol=1e-4)]
out += [attempt(lambda: O.optimize_for_inference(net, {"mkldnn_layout_optimize": one})) for one in (3, {})]
out.append(attempt(lambda: O.fuse(net.train())))
""",
    "subgraph": """
O = m("experimental.optimization")
gm = fx.symbolic_trace(diamond)
nodes = {n.name: n for n in gm.graph.nodes}
part = O.extract_subgraph(gm, [nodes["add_1"], nodes["relu"]], [nodes["add"], nodes["c"]], [nodes["relu"]])
out = [part.code, part(torch.ones(2), -torch.ones(2) * 3)]
sets = O.UnionFind(4)
out += [attempt(lambda: sets.find(0)), [sets.make_set(i) for i in range(4)], sets.join(0, 1), sets.join(1, 2), sets.join(2, 0)]
out += [sets.parent, sets.size]
""",
    "partition": """
P, S = m("passes.infra.partitioner"), m("passes.operator_support")
support = S.create_op_support(lambda mods, n: n.op == "call_function" and n.target in ADDS)
for keys in ({}, {"allows_single_node_partition": True}, {"skip_horizontal_fusion": True}):
    gm = fx.symbolic_trace(diamond)
    made = P.CapabilityBasedPartitioner(gm, support, **keys)
    parts = made.propose_partitions()
    fused = made.fuse_partitions(parts)
    out += [str(parts), [p.size() for p in parts], fused.code, [(n, c.code) for n, c in fused.named_children()]]
    out.append(fused(*torch.ones(3, 2)))
gm = fx.symbolic_trace(diamond)
made = P.CapabilityBasedPartitioner(gm, support, non_compute_ops=["_operator.add"])
parts = made.propose_partitions()
made.remove_bookend_non_compute_ops(parts)
out.append(str(parts))
out.append(attempt(lambda: P.Partition(nodes=[1], node_orders=[])))
""",
    "fuser": """
U = m("passes.utils.fuser_utils")
gm = fx.symbolic_trace(diamond)
nodes = {n.name: n for n in gm.graph.nodes}
out.append(U.validate_partition([nodes["add"], nodes["relu"]]))
out.append(U.topo_sort([nodes["relu"], nodes["c"], nodes["add_1"], nodes["add"]]))
out.append(attempt(lambda: U.fuse_as_graphmodule(gm, [nodes["add"], nodes["relu"]], "x")))
out.append(attempt(lambda: U.fuse_as_graphmodule(fx.symbolic_trace(diamond), [nodes["add"]], "x")))
made = U.fuse_by_partitions(gm, [{nodes["add"]: None}], always_return_tuple=True)
out += [made.code, made.fused_0.code, m("passes.utils.common").compare_graphs(gm.graph, gm.graph)]
""",
    "support": """
S = m("passes.operator_support")
gm = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
m("passes.shape_prop").ShapeProp(gm).propagate(torch.ones(1, 2))
mods = dict(gm.named_modules())
key = "torch.nn.modules.linear.Linear"
for row in (None, (([torch.float32],), {}), (([torch.float64],), {}), ((None,), {"q": [torch.float64]})):
    out.append([S.OperatorSupport({key: row}).is_node_supported(mods, n) for n in gm.graph.nodes])
no_floats = S.OpSupports.decline_if_input_dtype(torch.float32)
no_linear = S.OpSupports.decline_if_node_in_names({"_0"})
for one in (no_floats, no_linear, S.chain(no_floats, no_linear), S.any_chain(no_floats, no_linear)):
    out.append([one.is_node_supported(mods, n) for n in gm.graph.nodes])
T = m("passes.tools_common")
out += [T.get_node_target(mods, n) for n in gm.graph.nodes if n.op == "call_module"]
out += [T.get_node_target({}, n) for n in fx.symbolic_trace(diamond).graph.nodes if n.op == "call_function"]
out += [T.is_node_output_tensor(n) for n in gm.graph.nodes] + [T.get_acc_ops_name("x"), T.get_acc_ops_name(nn.Linear)]
""",
    "order": """
T = m("passes.tools_common")
for sort in (T.legalize_graph, T.stable_topological_sort):
    gm = fx.symbolic_trace(diamond)
    nodes = {n.name: n for n in gm.graph.nodes}
    nodes["relu"].prepend(nodes["mul"])
    nodes["b"].append(nodes["split"])
    out.append(sort(gm).code)
    nodes = {n.name: n for n in gm.graph.nodes}
    nodes["add"].args = (nodes["mul"], nodes["b"])
    out.append(attempt(lambda: sort(gm)))
""",
    "managers": """
M = m("passes.infra.pass_manager")
B = m("passes.infra.pass_base")
gm = fx.symbolic_trace(diamond)
def same(g): return B.PassResult(g, False)
def fails(g): return 1 / 0
def nothing(g): pass
before = M.this_before_that_pass_constraint
class Pass(B.PassBase):
    def requires(self, g): out.append("requires")
    def ensures(self, g): out.append("ensures")
    def call(self, g): return B.PassResult(g, True)
for passes in ([same], [same, fails], [nothing], [M.pass_result_wrapper(nothing)], [Pass(), M.pass_result_wrapper(Pass())]):
    out.append(attempt(lambda: M.PassManager(passes, steps=2)(gm).modified))
made = M.PassManager([fails, same], [before(same, fails)])
out.append(attempt(made.validate_constraints)[0])
made.solve_constraints()
out += [[p.__name__ for p in made.passes], made.validate_constraints()]
made = M.PassManager([fails, same], [before(same, fails), before(fails, same)])
out.append(attempt(made.solve_constraints)[0])
out.append(attempt(lambda: made.add_checks(lambda a, b: None)))
out.append(attempt(lambda: B.PassBase()))
""",
    "old manager": """
M = m("passes.pass_manager")
def inc(x): return x + 1
def nothing(x): pass
quiet = M.inplace_wrapper(M.log_hook(nothing))
out.append(M.PassManager([M.loop_pass(inc, 3), quiet, M.loop_pass(inc, predicate=lambda x: x < 9)])(1))
out += [attempt(lambda: M.loop_pass(inc)), attempt(lambda: M.loop_pass(inc, -1)(0))]
made = M.PassManager.build_from_passlist([inc, nothing])
made.replace_pass(nothing, inc)
out += [made(1), made.remove_pass(["inc"]), made(1)]
loops = [M.loop_pass(inc, 1), M.inplace_wrapper(nothing)]
out.append(attempt(lambda: M.PassManager(loops, [M.these_before_those_pass_constraint(nothing, inc)])(1))[0])
out.append(M.PassManager(loops, [M.these_before_those_pass_constraint(inc, nothing)])(1))
""",
    "same things once": """
C = m("passes.dialect.common.cse_pass")
def twice(a): return (a + 1) * (a + 1) + torch.cat([a, a]) + torch.cat([a, a], dim=0) + torch.cat([a, a])
for banned in (None, {torch.cat}):
    found = C.CSEPass(banned)(fx.symbolic_trace(twice))
    out += [found.modified, found.graph_module.code]
out.append(C.CSEPass()(fx.symbolic_trace(diamond)).modified)
""",
    "fakes": """
F = m("passes.fake_tensor_prop")
def f(a, n):
    b = a.view(3, 2)
    return b.sum(0).add_(1), n
gm = fx.symbolic_trace(f)
found = F.FakeTensorProp(gm).propagate(torch.ones(2, 3), 4)
out = [type(found[0]).__name__, [(n.name, [(tuple(v.shape), v.device.type) if isinstance(v, torch.Tensor) else v
       for v in (n.meta["val"] if isinstance(n.meta["val"], tuple) else (n.meta["val"],))]) for n in gm.graph.nodes]]
""",
    "constants": """
C = m("experimental.const_fold")
x = torch.ones(2, 2)
for module in (Constants(), nn.Linear(2, 2)):
    made = C.split_const_subgraphs(module)
    out += [made.code, made.const_subgraph_module and made.const_subgraph_module.code, torch.allclose(made(x), module(x))]
    out += [made.fx_const_folded_attrs_name, made.has_folding_been_run, attempt(made.run_folding)]
out += [C.get_unique_attr_name_in_module(made, n) for n in ("weight.1-", "1", "training", "x_1")]
made = C.split_const_subgraphs(Constants(), skip_folding_node_fn=lambda n: n.target is operator.mul)
out += [made.code, made(x).shape]
""",
    "matmuls": """
M = m("experimental.merge_matmul")
def f(a, b, c):
    return torch.matmul(a, c) + 1, torch.matmul(b, c)
made = M.merge_matmul(f)
a, b, c = torch.ones(2, 3), torch.ones(4, 3), torch.ones(3, 2)
out = [made.code, made(a, b, c)]
chain = M.merge_matmul(lambda a, c: torch.matmul(torch.matmul(a, c), c))
out.append(chain.code)
""",
    "tags": """
S = m("passes.split_utils")
gm = fx.symbolic_trace(Constants())
for n in gm.graph.nodes:
    if n.op not in ("placeholder", "output", "get_attr"):
        n.tag = "a" if n.name in ("add", "mul") else "b"
for several in (False, True):
    made, names = S.split_by_tags(gm, ["a", "b"], True, several)
    out += [made.code, made.a.code, made.b.code, names, made(torch.ones(2, 2)).shape]
out += [S.getattr_recursive(gm, "l.weight") is gm.l.weight, S.getattr_recursive(gm, "q.z")]
out.append(attempt(lambda: S.split_by_tags(gm, ["b", "a"])))
out.append(attempt(lambda: S.split_by_tags(fx.symbolic_trace(diamond), ["b", "a"])))
S.setattr_recursive(gm, "l.bias", None)
out.append(gm.l.bias)
gm = fx.symbolic_trace(diamond)
table = {n: i // 3 for i, n in enumerate(gm.graph.nodes) if n.op == "call_function"}
made = m("passes.split_module").split_module_simple(gm, table, partition_affix="p")
out += [made.code, [n for n, _ in made.named_children()], made(*torch.ones(3, 2))]
""",
    "fetched": """
P = m("passes.param_fetch")
gm = fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.MaxPool2d(2)))
P.lift_lowering_attrs_to_nodes(gm)
out = [n.attrs_for_lowering for n in gm.graph.nodes if n.op == "call_module"]
out = [{k: v for k, v in one.items() if not isinstance(v, torch.Tensor)} for one in out]
out.append(attempt(lambda: P.extract_attrs_for_lowering(nn.GELU())))
G = m("passes.graph_manipulation")
gm = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 4), nn.ReLU()))
out.append(attempt(lambda: G.get_size_of_node(gm, next(iter(gm.graph.nodes)))))
G.get_size_of_all_nodes(gm, [torch.ones(2, 3)])
out += [getattr(n, "size_bytes", None) for n in gm.graph.nodes]
G.replace_target_nodes_with(gm, "call_module", "1", "call_function", torch.tanh)
out.append(gm.code)
""",
    "items": """
A = m("passes.annotate_getitem_nodes")
Pair = typing.NamedTuple("Pair", [("p", int), ("q", float)])
T = typing
plain = (tuple[int, str], list[int], int)
for kind in (T.Tuple[int, str], T.Tuple[int, ...], T.List[str], Pair, torch.Tensor, T.Tuple[int], *plain):
    g = fx.Graph()
    x = g.placeholder("x", type_expr=kind)
    y = g.call_function(operator.getitem, (x, 1))
    g.output(y)
    out.append(attempt(lambda: (A.annotate_getitem_nodes(g), str(y.type))))
""",
    "normalized": """
N, A = m("experimental.normalize"), m("experimental.schema_type_annotation")
def f(x): return torch.add(x, 1) + torch.sub(x, x) + F.relu(x) + torch.flatten(x, 0)
def g(x): return F.max_pool2d(F.relu(x), 2).sum()
out.append(N.NormalizeOperators(fx.symbolic_trace(f)).transform().code)
layers = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Conv2d(1, 1, 1)))
out += [str(N.NormalizeArgs(one).transform().graph) for one in (layers, fx.symbolic_trace(g))]
out.append(str(N.NormalizeArgs(layers, normalize_to_only_use_kwargs=False).transform().graph))
out += [str(A.AnnotateTypesWithSchema(fx.symbolic_trace(one)).transform().graph) for one in (Constants(), g)]
S = m("operator_schemas")
pairs = ((T.List[int], int), (T.List[int], list[int]), (T.List[int], tuple[int, ...]), (int, torch.dtype), (T.Optional[int], int),
         (T.Optional[int], type(None)), (numbers.Number, float), (T.List[torch.Tensor], list[torch.Tensor]),
         (torch.Tensor, nn.Parameter), (float, int), (T.List[T.Optional[int]], list[int]))
out += [S.type_matches(*pair) for pair in pairs]
for types in ((torch.Tensor, torch.Tensor), (torch.Tensor, int)):
    out.append(S.normalize_function(torch.ops.aten.add.Tensor, (1, 2), {}, types))
""".replace("T.", "typing."),
    "rewritten": """
W = m("experimental.rewriter")
out.append(attempt(lambda: W.RewritingTracer().trace(diamond))[0])
""",
    "meta": """
M = m("experimental.meta_tracer")
class Sized(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 5)
    def forward(self, x):
        y = self.l(x)
        return nn.ReLU()(y.view(x.shape[0], -1)) + torch.ones(y.shape[-1], device=x.device) + y.dim()
made = M.symbolic_trace(Sized().to("meta"), meta_args={"x": torch.ones(2, 4, device="meta")})
out = [made.code, [n for n, _ in made.named_modules()], attempt(lambda: M.symbolic_trace(Sized()))]
out += [torch.ones(2), M.manual_meta_overrides[torch.relu](3)]
""",
    "sources": """
S = m("passes.utils.source_matcher_utils")
gm = fx.symbolic_trace(diamond)
for n in gm.graph.nodes:
    if n.op == "call_function":
        n.meta["source_fn_stack"] = [("all", 1), ("x" if n.name < "m" else "y", n.target)]
found = S.get_source_partitions(gm.graph, [operator.add, torch.relu])
for source, parts in found.items():
    out += [(p.nodes, sorted(map(str, p.input_nodes)), sorted(map(str, p.output_nodes)), p.params) for p in parts]
a, r = found[operator.add][0], found[torch.relu][0]
out += [S.check_subgraphs_connected(a, r), S.check_subgraphs_connected(r, r)]
out.append(S.get_source_partitions(gm.graph, [operator.add], lambda n: n.name != "add_1"))
""",
    "drawn": """
gm = fx.symbolic_trace(diamond)
D = m("passes.graph_drawer")
out = [attempt(lambda: D.FxGraphDrawer(gm, "x"))[0:1], m("experimental.debug").set_trace(gm).code]
made = m("passes.graph_transform_observer").GraphTransformObserver(gm, "nothing")
out += [made.apply_gm_pass(lambda g: g is gm), made.apply_graph_pass(lambda g: g is gm.graph), made.get_current_pass_count()]
""",
    "fake proxies": """
from_mode = importlib.import_module(HOME + "._subclasses.fake_tensor").FakeTensorMode
g = fx.Graph()
x = g.placeholder("x")
mode = from_mode()
x.meta["val"] = mode.from_tensor(torch.ones(2, 3))
made = torch.sum(fx.proxy.MetaProxy(x, fake_mode=mode), 0)
out = [repr(made), str(g), tuple(made.node.meta["val"].shape)]
""",
    "in place": """
reinplace, make_fx = m("passes.reinplace").reinplace, m("experimental.proxy_tensor").make_fx
A = torch.ops.aten
end = torch.iinfo(torch.int64).max
def plain(x): return x.clone().add(1)
def viewed(x):
    a = x.clone()
    b = a.view(-1)[0].view(-1)
    return a.mul(3)
def written(x):
    a = A.clone.default(x)
    rows = A.slice.Tensor(a, 0, 0, end)
    one = A.add.Tensor(A.select.int(rows, 1, 1), 1)
    return A.slice_scatter.default(a, A.select_scatter.default(rows, one, 1, 1), 0, 0, end)
def scattered(x): return A.select_scatter.default(torch.zeros(4, 4), torch.ones(4), 0, 0)
def kept(x):
    a = x.clone()
    return A.ge.Tensor(A.mul.Tensor(a, a), a)
def of_input(x): return x.add(1).relu()
x = torch.ones(2, 3)
for f in (plain, viewed, written, scattered, kept, of_input):
    gm = reinplace(make_fx(f)(x), x)
    out += [gm.code, gm(x)]
out.append(x)
""",
}
