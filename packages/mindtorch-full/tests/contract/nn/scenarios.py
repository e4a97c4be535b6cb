"""Small programs around `nn.Module`, written once for both libraries: each returns what a user would see."""

import copy
import warnings
from collections import OrderedDict


def _seen(function):
    """Return the repr of a call's result, or its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = repr(function())
        except Exception as error:  # noqa: BLE001 (any error is an outcome)
            text = f"{type(error).__name__}: {error}"
    return [text, *[f"{w.category.__name__}: {w.message}" for w in caught]]


def _net(T):
    T.manual_seed(0)
    return T.nn.Sequential(OrderedDict(a=T.nn.Linear(2, 3), n=T.nn.BatchNorm1d(3), b=T.nn.Linear(3, 1)))


def registration(T):
    """Names, kinds and clashes."""
    m = T.nn.Linear(2, 3)
    yield _seen(lambda: setattr(m, "weight", 3))
    yield _seen(lambda: setattr(m, "weight", T.zeros(3, 2)))
    yield _seen(lambda: m.register_parameter("weight", T.nn.Parameter(T.zeros(1))) or list(m._parameters))
    yield _seen(lambda: m.register_parameter("a.b", None))
    yield _seen(lambda: m.register_parameter("", None))
    yield _seen(lambda: m.register_parameter(3, None))
    yield _seen(lambda: m.register_parameter("forward", None))
    yield _seen(lambda: m.register_parameter("x", T.zeros(2)))
    yield _seen(lambda: m.register_parameter("x", "text"))
    yield _seen(lambda: m.register_parameter("x", T.nn.Parameter(T.zeros(2)) * 2))
    yield _seen(lambda: m.register_buffer("weight", None))
    yield _seen(lambda: m.register_buffer("b.c", None))
    yield _seen(lambda: m.register_buffer("c", 3))
    yield _seen(lambda: m.register_buffer("c", T.zeros(2)) or setattr(m, "c", 4))
    yield _seen(lambda: setattr(m, "c", None) or list(m._buffers))
    yield _seen(lambda: m.add_module("d", 3))
    yield _seen(lambda: m.add_module("weight", T.nn.ReLU()))
    yield _seen(lambda: m.add_module("e.f", T.nn.ReLU()))
    yield _seen(lambda: m.add_module("", T.nn.ReLU()))
    yield _seen(lambda: m.add_module(3, T.nn.ReLU()))
    yield _seen(lambda: setattr(m, "sub", T.nn.ReLU()) or setattr(m, "sub", 3))
    yield _seen(lambda: m.nothing)
    yield _seen(lambda: delattr(m, "nothing"))
    yield _seen(lambda: delattr(m, "sub") or delattr(m, "bias") or (list(m._modules), list(m._parameters)))
    yield _seen(lambda: m.get_submodule("a.b"))
    yield _seen(lambda: m.get_parameter("bias"))
    yield _seen(lambda: m.get_buffer("c"))
    yield _seen(lambda: m.get_buffer("weight"))
    yield _seen(lambda: setattr(T.nn.Module.__new__(T.nn.Linear), "p", T.nn.Parameter(T.zeros(1))))
    yield _seen(lambda: setattr(T.nn.Module.__new__(T.nn.Linear), "p", T.nn.ReLU()))
    yield _seen(lambda: T.nn.Module(3))
    yield _seen(lambda: T.nn.Module(a=3))
    yield _seen(lambda: T.nn.Module()(3))


def replacement(T):
    """One name means one thing, whatever it is assigned."""
    m = T.nn.Module()
    for value in (3, T.nn.Parameter(T.ones(1)), T.nn.ReLU(), None, T.nn.Buffer(T.ones(1)), T.nn.Parameter(T.ones(2))):
        yield _seen(lambda value=value: setattr(m, "x", value))
        yield [list(m._parameters), list(m._buffers), list(m._modules), "x" in m.__dict__]
    for value in (T.nn.ReLU(), T.nn.Parameter(T.ones(1)), T.nn.Buffer(T.ones(1)), T.nn.Tanh(), 3):
        yield _seen(lambda value=value: setattr(m, "z", value))
        yield [list(m._parameters), list(m._buffers), list(m._modules), "z" in m.__dict__]
    m.y = T.nn.Buffer(T.ones(2), persistent=False)
    yield [list(m.state_dict()), [n for n, _ in m.named_buffers()], sorted(m._non_persistent_buffers_set)]
    m.y = T.zeros(2)
    yield [list(m.state_dict()), m.y.tolist()]
    m.y = T.nn.Buffer(T.ones(2))
    yield [list(m.state_dict()), isinstance(m.y, T.nn.Buffer), type(m.y).__name__]


def walking(T):
    """Iteration with prefixes and shared members."""
    net = _net(T)
    net.shared = net.a
    net.b.weight2 = net.b.weight
    yield [n for n, _ in net.named_parameters()]
    yield [n for n, _ in net.named_parameters(prefix="p", recurse=False)]
    yield [n for n, _ in net.named_parameters(remove_duplicate=False)]
    yield [n for n, _ in net.named_buffers()]
    yield [n for n, _ in net.named_modules()]
    yield [n for n, _ in net.named_modules(remove_duplicate=False)]
    yield [n for n, _ in net.named_children()]
    yield [type(m).__name__ for m in net.modules()]
    yield [n for n in dir(net.a) if not n.startswith("_")][:5]
    yield [net.eval().a.training, net.train().b.training]
    yield _seen(lambda: net.train(3))
    yield _seen(lambda: net.set_submodule("a", T.nn.ReLU()) or net.a)
    yield _seen(lambda: net.set_submodule("a.x.y", T.nn.ReLU()))
    yield _seen(lambda: net.set_submodule("", T.nn.ReLU()))
    yield [p.requires_grad for p in net.requires_grad_(False).parameters()]
    order = []
    net.apply(lambda m: order.append(type(m).__name__))
    yield order


def hooks(T):
    """The order of forward hooks, what they may change, and removal."""
    m, log = T.nn.Linear(2, 2), []
    x = T.ones(1, 2)
    m.register_forward_pre_hook(lambda mod, args: log.append("pre1"))
    m.register_forward_pre_hook(lambda mod, args: log.append("pre0"), prepend=True)
    m.register_forward_pre_hook(lambda mod, args, kw: log.append(f"pre-kw {kw}") or (args, kw), with_kwargs=True)
    first = m.register_forward_hook(lambda mod, args, out: log.append("post1"))
    m.register_forward_hook(lambda mod, args, kw, out: log.append("post-kw") or out * 0, with_kwargs=True)
    m.register_forward_hook(lambda mod, args, out: log.append(f"post0 {out.abs().sum().item() > 0}"), prepend=True)
    yield [m(x).tolist(), list(log)]
    first.remove()
    log.clear()
    m(input=x)
    yield list(log)
    bad = T.nn.Linear(2, 2)
    bad.register_forward_pre_hook(lambda mod, args, kw: 3, with_kwargs=True)
    yield _seen(lambda: bad(x))
    bad = T.nn.Linear(2, 2)
    bad.register_forward_pre_hook(lambda mod, args: T.ones(1, 2) * 5)
    bad.register_forward_hook(lambda mod, args, out: log.append(args[0].tolist()))
    bad(x)
    yield list(log)
    broken = T.nn.Linear(2, 2)
    broken.register_forward_hook(lambda mod, args, out: log.append(["always", out]), always_call=True)
    broken.register_forward_hook(lambda mod, args, out: 1 / 0, always_call=True)
    yield _seen(lambda: broken(T.ones(1, 9)))
    yield log[-1]
    handle = T.nn.modules.module.register_module_forward_hook(lambda mod, args, out: log.append(type(mod).__name__))
    log.clear()
    T.nn.Sequential(T.nn.ReLU(), T.nn.Tanh())(x)
    handle.remove()
    yield list(log)
    handle = T.nn.modules.module.register_module_parameter_registration_hook(
        lambda mod, name, p: T.nn.Parameter(p * 0) if p is not None else None
    )
    yield T.nn.PReLU().weight.tolist()
    handle.remove()


def backward_hooks(T):
    """Full backward hooks see and may replace gradients; both kinds do not mix."""
    m, log = T.nn.Linear(2, 2), []
    with T.no_grad():
        m.weight.fill_(2.0)
    x = T.ones(1, 2, requires_grad=True)
    m.register_full_backward_pre_hook(lambda mod, g: log.append(["pre", g[0].tolist()]) or (g[0] * 3,))
    m.register_full_backward_hook(
        lambda mod, gi, go: log.append(["full", gi[0].tolist(), go[0].tolist()]) or (gi[0] * 10,)
    )
    m(x).sum().backward()
    yield [log, x.grad.tolist(), m.weight.grad.tolist()]
    yield _seen(lambda: m.register_backward_hook(lambda *a: None))
    legacy = T.nn.Linear(2, 2)
    legacy.register_backward_hook(lambda mod, gi, go: log.append("legacy"))
    yield _seen(lambda: legacy.register_full_backward_hook(lambda *a: None))
    log.clear()
    legacy(x).sum().backward()
    yield log


def state(T):
    """Saving and loading: order, metadata, strictness, errors."""
    net = _net(T)
    d = net.state_dict()
    yield [list(d), sorted(d._metadata), d._metadata["n"], type(d).__name__, d["a.weight"].requires_grad]
    yield [net.state_dict(keep_vars=True)["a.weight"] is net.a.weight, list(net.state_dict(prefix="z."))[:2]]
    yield _seen(lambda: next(iter(net.state_dict(OrderedDict(), "q."))))
    other = _net(T)
    yield _seen(lambda: other.load_state_dict(d))
    d.pop("a.bias")
    d["extra"] = d["a.weight"]
    d["b.more.x"] = d["a.weight"]
    yield _seen(lambda: other.load_state_dict(d))
    yield _seen(lambda: other.load_state_dict(d, strict=False))
    d["b.weight"] = T.zeros(7)
    d["n.weight"] = [1, 2]
    yield _seen(lambda: other.load_state_dict(d, strict=False))
    yield _seen(lambda: other.load_state_dict(3))
    plain = T.nn.Linear(2, 2)
    given = {"weight": T.ones(2, 2), "bias": T.nn.Parameter(T.ones(2))}
    before = plain.weight
    plain.load_state_dict(given, assign=True)
    yield [plain.weight is before, plain.bias is given["bias"], type(plain.weight).__name__, plain.weight.tolist()]
    yield _seen(lambda: T.nn.Linear(2, 2, device="meta").load_state_dict(given))
    old = {"n.weight": T.ones(3), "n.bias": T.ones(3), "n.running_mean": T.ones(3), "n.running_var": T.ones(3)}
    yield _seen(lambda: _net(T).load_state_dict(old, strict=False))


def state_hooks(T):
    """Hooks around saving and loading, and extra state."""
    log = []

    class WithExtra(T.nn.Linear):
        def get_extra_state(self):
            return {"k": 1}

        def set_extra_state(self, value):
            log.append(value)

    m = WithExtra(1, 1)
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: log.append(["pre", prefix, keep]))
    m.register_state_dict_post_hook(lambda mod, d, prefix, meta: log.append(["post", list(d), meta]))
    m.register_load_state_dict_pre_hook(lambda mod, d, prefix, *rest: log.append(["load", prefix]))
    m.register_load_state_dict_post_hook(
        lambda mod, keys: log.append(list(keys.missing_keys)) or keys.missing_keys.clear()
    )
    saved = T.nn.Sequential(m).state_dict()
    yield [list(saved), list(log)]
    log.clear()
    yield _seen(lambda: T.nn.Sequential(m).load_state_dict({"0.weight": T.zeros(1, 1)}))
    yield list(log)
    yield _seen(lambda: T.nn.Sequential(m).load_state_dict(saved))
    m.register_load_state_dict_post_hook(lambda mod, keys: keys)
    yield _seen(lambda: m.load_state_dict(m.state_dict()))
    yield _seen(lambda: T.nn.Linear(1, 1).load_state_dict(m.state_dict()))


def conversion(T):
    """dtype and device of every member, identity of parameters, gradients."""
    net = _net(T)
    weight = net.a.weight
    net.a.weight.grad = T.ones(3, 2)
    yield [str(p.dtype) for p in net.double().state_dict().values()]
    yield [net.a.weight is weight, str(net.a.weight.grad.dtype), str(net.half().a.bias.dtype)]
    yield _seen(lambda: net.to(T.int64))
    yield _seen(lambda: net.to(3, 4, 5, 6, 7))
    yield _seen(lambda: net.to(foo=1))
    yield [str(net.to(T.zeros(1, dtype=T.float64)).b.weight.dtype), str(net.to("cpu", T.float32).b.weight.dtype)]
    yield _seen(lambda: str(T.nn.Linear(1, 1).to(T.complex64).weight.dtype))
    meta = _net(T).to("meta")
    yield [str(p.device) for p in meta.parameters()] + [str(b.device) for b in meta.buffers()]
    yield _seen(lambda: meta.to("cpu"))
    yield [str(p.device) + str(tuple(p.shape)) for p in meta.to_empty(device="cpu").parameters()]
    net.zero_grad()
    yield [p.grad for p in net.parameters()]
    net.a.weight.grad = T.ones(3, 2)
    net.zero_grad(set_to_none=False)
    yield net.a.weight.grad.tolist()
    yield _seen(lambda: net.type(T.float64).a.weight.dtype)


def copies(T):
    """Deep copies are independent; a parameter's copy is a parameter."""
    net = _net(T)
    twin = copy.deepcopy(net)
    with T.no_grad():
        twin.a.weight.zero_()
    yield [net.a.weight.abs().sum().item() > 0, type(twin.a.weight).__name__, twin.a.weight.requires_grad]
    p = T.nn.Parameter(T.ones(2), requires_grad=False)
    p.note = 1
    q = copy.deepcopy(p)
    yield [type(q).__name__, q.requires_grad, hasattr(q, "note"), repr(p), p.note]
    t = T.ones(2)
    shared = T.nn.Parameter(t)
    t[0] = 5
    yield [shared.tolist(), shared.data_ptr() == t.data_ptr(), shared.is_leaf, isinstance(shared, T.Tensor)]
    yield [type(shared * 2).__name__, type(shared.data).__name__, type(shared.detach()).__name__]
    yield _seen(lambda: T.nn.Parameter(T.ones(2, dtype=T.int64)))
    yield _seen(lambda: T.nn.Parameter().shape)
    lazy = T.nn.LazyLinear(2)
    yield [repr(lazy), repr(lazy.weight), T.nn.parameter.is_lazy(lazy.weight)]
    yield _seen(lambda: lazy.weight.shape)
    yield _seen(lambda: lazy.weight.share_memory_())
    yield _seen(lambda: lazy(T.ones(1, 3)).shape)
    yield [repr(lazy), type(lazy).__name__]


def containers(T):
    """Lists, dictionaries and sequences of modules and parameters."""
    nn = T.nn
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    yield [repr(s[1:]), repr(s[-1]), len(s), repr(s + nn.Sequential(nn.ELU())), repr(s * 2)]
    yield _seen(lambda: s[7])
    yield _seen(lambda: s + 3)
    yield _seen(lambda: s * 0)
    yield _seen(lambda: s * "a")
    yield _seen(lambda: s.insert(1, nn.GELU()))
    yield _seen(lambda: s.insert(9, nn.GELU()))
    yield _seen(lambda: s.insert(0, 3))
    yield _seen(lambda: (s.pop(0), s.append(nn.Mish()), s.extend([nn.ReLU()])))
    yield _seen(lambda: s.__delitem__(slice(0, 2)) or s)
    ml = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()])
    yield [repr(ml), repr(ml[0:2]), repr(ml.__add__([nn.Tanh()])), len(ml)]
    yield _seen(lambda: ml(3))
    yield _seen(lambda: ml.extend(3))
    yield _seen(lambda: ml["a"])
    yield _seen(lambda: ml.insert(0, nn.Tanh()) or ml.pop(-1))
    md = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    yield [list(md), "a" in md, repr(md), list(md.keys()), len(md)]
    yield _seen(lambda: md.update(3))
    yield _seen(lambda: md.update([("c",)]))
    yield _seen(lambda: md.update([("c", nn.ELU())]) or md.pop("a") or md)
    yield _seen(lambda: md["zz"])
    pl = nn.ParameterList([T.ones(2), nn.Parameter(T.zeros(1)), "x"])
    yield [repr(pl), list(pl.state_dict()), len(pl), repr(pl[0:1])]
    yield _seen(lambda: pl.append(T.ones(1)).extend([3]) and len(pl))
    yield _seen(lambda: pl.extend(3))
    yield _seen(lambda: pl[9])
    yield _seen(lambda: pl())
    pd = nn.ParameterDict({"b": T.ones(2), "a": nn.Parameter(T.zeros(1))})
    yield [repr(pd), list(pd), list(pd.state_dict()), repr(pd.get("zz", 4)), "a" in pd]
    yield _seen(lambda: pd.setdefault("q", T.ones(1)))
    yield _seen(lambda: pd.popitem())
    yield _seen(lambda: pd | nn.ParameterDict({"n": T.ones(1)}))
    yield _seen(lambda: pd.update(3))
    yield _seen(lambda: pd(1))
    yield _seen(lambda: list(pd.fromkeys(["u", "v"], 1)))


SCENARIOS = {
    name: value
    for name, value in dict(globals()).items()
    if callable(value) and not name.startswith("_") and name != "OrderedDict"
}
