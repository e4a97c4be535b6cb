"""What tracing functions gives: the graph's text, the code, the result of running it, the same as torch's."""

import pytest

import mindtorch as mt
import mindtorch.fx

from .programs import play

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.fx", reason="oracle")

BODIES = """
x + 1
1 + x
x - y
2 - x
x * y / 3
2 / x
x // 2
7 // x
x % 2
7 % x
x ** 2
2 ** x
x @ y.t()
(x > 0) & (y > 0)
(x > 0) | (y < 0)
(x > 0) ^ (y < 0)
~(x > 0)
-x
+x
abs(x)
x < y
x <= y
x == y
x != y
x >= 0.5
x[0]
x[..., None]
x[:, 1:3]
x[1:, ::2]
x[:, [0, 2]]
x[x > 0]
x.shape
x.shape[0]
x.size(0)
x.T
x.T.shape[1] + 1
x.dtype
x.t().contiguous().view(-1)
x.view(x.size(0), -1)
x.max(1).values
x.max(1)[0]
x.topk(2)
x.sum()
x.sum(dim=(0, 1), keepdim=True)
x.to(torch.float64)
x.to(dtype=torch.float16).float()
x.clamp(min=0, max=1)
x.masked_fill(x > 0, float("-inf"))
x.add(y, alpha=2)
x.unsqueeze(0).expand(2, -1, -1)
x.permute(1, 0)
x.new_zeros(x.shape)
x.type_as(y)
x.repeat(1, 2)
x.split(2, dim=1)
x.chunk(2)
torch.relu(x)
torch.add(x, y, alpha=2)
torch.sum(input=x, dim=(0, 1), keepdim=True, dtype=torch.float64)
torch.cat([x, y], dim=1)
torch.cat((x, -x))
torch.stack([x, x], 0)
torch.einsum("ij,kj->ik", x, y)
torch.matmul(x, y.transpose(0, 1))
torch.flatten(x, 1)
torch.where(x > 0, x, y)
torch.split(x, 2)
torch.chunk(x, 2, dim=-1)
torch.max(x, dim=1)
torch.softmax(x, dim=-1)
torch.exp(x).log()
torch.zeros_like(x) + torch.ones_like(y)
torch.meshgrid(x[0], y[0], indexing="ij")
torch.tensordot(x, y, dims=([1], [1]))
torch.cdist(x, y)
torch.norm(x)
torch.linalg.norm(x)
torch.linalg.vector_norm(x, dim=1)
torch.fft.fft(x).real
torch.special.erf(x)
torch.is_floating_point(x)
torch.numel(x)
torch.broadcast_tensors(x, y)
torch.atleast_2d(x)
torch.unique(x > 0)
F.relu(x)
F.relu(x, inplace=False)
F.gelu(x)
F.silu(x)
F.softmax(x, dim=-1)
F.log_softmax(x, 1)
F.dropout(x, 0.0, training=False)
F.layer_norm(x, (4,))
F.linear(x, y)
F.pad(x, (1, 2))
F.interpolate(x[None], scale_factor=2)
F.max_pool1d(x, 2)
F.max_pool2d(x[None, None], 2)
F.avg_pool1d(x, 2)
F.adaptive_avg_pool2d(x[None, None], 1)
F.adaptive_max_pool1d(x, 2)
F.conv1d(x[None], y[:, None, :].expand(3, 3, 4)[:, :, :1])
F.mse_loss(x, y)
F.cross_entropy(x, torch.tensor([0, 1, 2]))
F.embedding(torch.tensor([0, 1]), x)
F.one_hot(x.argmax(1), 4)
F.normalize(x, dim=1)
F.cosine_similarity(x, y)
F.scaled_dot_product_attention(x[None], y[None], y[None])
F.leaky_relu(x, 0.2)
F.elu(x)
F.hardtanh(x)
F.softplus(x)
F.sigmoid(x)
F.tanh(x)
F.logsigmoid(x)
F.glu(x)
F.batch_norm(x, None, None, training=True)
F.group_norm(x, 2)
math.sqrt(x.size(0))
math.floor(x.shape[1] / 3) + x
x + float("inf")
x * float("nan") == 0
x + 1e-30
{"a": x, "b": [y, (x, y)]}
[x, y]
(x,)
(x, None, 3, "text", True, 1.5)
None
x is None
isinstance(x, torch.Tensor)
x + torch.ones(4)
torch.ones(4) + x
torch.ones(3, 4).add_(x)
torch.arange(3)[x.argmax(1) % 3]
torch.zeros(3, 4).scatter_(1, x.argmax(1, keepdim=True), 1.0)
x.foo
x.foo(y, a=[x], b={"k": y}, c=slice(x, None, 2))
x(1)
x.__add__(1)
slice(x.size(0), None)
x[x.size(0) - 1 :, 0]
x[x.size(0) - 2]
x.to(torch.device("cpu"), torch.float16).contiguous(memory_format=torch.contiguous_format)
x.method(torch.float32, torch.strided, torch.Size([2]), range(3), ..., None, 1j, Colour)
[i for i in range(3)] and x + [1, 2][0]
x.size()[0] * x.size()[1]
x if True else y
len(x)
range(x)
int(x)
float(x)
3 in x
[one for one in x]
x and y
not x
x.shape[0] == 1 and x
F.relu(**x)
torch.add(*x)
x.foo(object())
x.foo({1, 2})
x.foo({x: 2})
x.foo(nn.ReLU())
object()
x.foo(b"bytes")
torch.nothing(x)
""".strip().splitlines()

TRACED = """
def f(x, y):
    return {body}
gm = fx.symbolic_trace(f)
out = [str(gm.graph), gm.code, [(n.op, n.name, str(n.type), sorted(n.meta)) for n in gm.graph.nodes]]
"""
RUN = TRACED + "x = torch.arange(12.).view(3, 4) - 5\nout = gm(x, torch.randn(3, 4))\n"
NOT_RUN = ("foo", "method", "x(1)", "x.split(2, dim=1)")


@pytest.mark.parametrize("body", BODIES)
def test_traced(body: str) -> None:
    """Graph, code and nodes of a function of two arguments; or the error."""
    source = TRACED.replace("{body}", body)
    assert play(mt, source) == play(torch, source)


@pytest.mark.parametrize("body", [one for one in BODIES if not any(part in one for part in NOT_RUN)])
def test_run(body: str) -> None:
    """What the traced function gives."""
    source = RUN.replace("{body}", body)
    assert play(mt, source) == play(torch, source)


STATEMENTS = {
    "unpack": "def f(x):\n    a, b = x\n    return a",
    "unpack_three": "def f(x):\n    a, (b, c) = x\n    return a + c",
    "augmented": "def f(x):\n    x += 1\n    x *= 2\n    return x",
    "set_item": "def f(x):\n    x[0] = 1\n    return x",
    "set_attribute": "def f(x):\n    x.a = 1\n    return x",
    "branch": "def f(x):\n    if x.sum() > 0:\n        return x\n    return -x",
    "loop": "def f(x):\n    for one in x:\n        pass\n    return x",
    "while": "def f(x):\n    while x.sum() > 0:\n        x = x - 1\n    return x",
    "assert": "def f(x):\n    assert x.sum() > 0\n    return x",
    "torch_assert": "def f(x):\n    torch._assert(x.sum() > 0, 'text')\n    return x",
    "unused": "def f(x):\n    a = x + 1\n    b = a.foo\n    return x",
    "annotated": "def f(x: torch.Tensor, y: int = 3) -> torch.Tensor:\n    return x + y",
    "optional": "def f(x: typing.Optional[torch.Tensor] = None, y: 'text' = 2) -> typing.List[int]:\n    return [x]",
    "union": "def f(x: int | None, y: list[int], z: typing.Tuple[int, ...]) -> typing.Dict[str, torch.Tensor]:\n    return {}",
    "keyword_only": "def f(x, *, other, scale=2.0):\n    return x * scale + other",
    "variable": "def f(*args, **kwargs):\n    return args[0] + kwargs['a']",
    "mixed": "def f(x, *rest, y=1, **more):\n    return x + rest[0] + y + more['z']",
    "names": "def f(self, torch_, input, dict, x_1, x, nan):\n    return self + torch_ + input + dict + x_1 + x + nan",
    "repr": "def f(x):\n    return x.foo(repr(x), f'{x + 1}')",
    "nothing": "def f():\n    return torch.ones(2)",
    "inner": "def g(x):\n    return torch.relu(x) + 1\ndef f(x):\n    return g(g(x))",
    "default_tensor": "def f(x, y=torch.ones(2)):\n    return x + y",
    "lambda": "f = lambda x: x.relu()",
    "partial": "import functools\nf = functools.partial(torch.add, 1)",
    "builtin": "f = math.sqrt",
    "number": "f = 3",
    "walrus": "def f(x):\n    return (y := x + 1) * y",
    "try": "def f(x):\n    try:\n        return bool(x)\n    except ValueError:\n        return x - 1",
    "slices": "def f(x):\n    n = x.size(0)\n    return x[n:], x[:n, ..., None], x[1:n:2]",
    "chained": "def f(x):\n    return 1 < x < 3",
    "max_builtin": "def f(x):\n    return max(x, 1)",
    "sum_builtin": "def f(x):\n    return sum([x, x])",
    "round": "def f(x):\n    return round(x)",
    "divmod": "def f(x):\n    return divmod(x, 2)",
    "numpy": "def f(x):\n    return x.numpy().tolist()",
    "in_dict": "def f(x):\n    return {1: 2}[x]",
    "nested_constants": "def f(x):\n    a = torch.ones(2)\n    return x + a + torch.zeros(2) + a",
    "grad_mode": "def f(x):\n    with torch.no_grad():\n        return x * 2",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str) -> None:
    """Whole functions: what cannot be traced, annotations, kinds of parameters."""
    source = STATEMENTS[name] + "\ngm = fx.symbolic_trace(f)\nout = [str(gm.graph), gm.code]"
    assert play(mt, source) == play(torch, source)


CONCRETE = {
    "flag": ("x, flag, y=None", "{'flag': True}"),
    "two": ("x, flag, y=None", "{'flag': False, 'y': None}"),
    "tuple": ("x, flag, y=None", "(fx.PH, True, None)"),
    "short_tuple": ("x, flag, y=None", "(fx.PH,)"),
    "string": ("x, flag, y=None", "{'flag': 'text', 'y': 2.5}"),
    "other": ("x, flag, y=None", "{'flag': object()}"),
    "tree": ("x, flag", "{'x': {'a': fx.PH, 'b': [fx.PH, 3]}, 'flag': True}"),
}


@pytest.mark.parametrize("name", CONCRETE)
def test_concrete_arguments(name: str) -> None:
    """Arguments that are fixed while tracing, and the checks that the graph then makes."""
    parameters, given = CONCRETE[name]
    value = "(x['a'] + x['b'][0])" if name == "tree" else "x"
    source = (
        f"def f({parameters}):\n    if flag:\n        return {value} + 1\n    if y is not None:\n        return x * y\n"
        f"    return x - 1\ngm = fx.symbolic_trace(f, concrete_args={given})\nout = [str(gm.graph), gm.code]\n"
    )
    assert play(mt, source)[0] == play(torch, source)[0]


def test_a_fixed_argument_is_checked() -> None:
    """The graph refuses another value."""
    source = "gm = fx.symbolic_trace(lambda x, n: x * n, concrete_args={'n': 2})\nout = [gm(3, 2)]\ngm(3, 4)"
    assert play(mt, source) == play(torch, source)


WRAPPED = """
@fx.wrap
def double(x):
    return [x, x]
fx.wrap("len")
def f(x):
    return double(x)[0] + len(x)
gm = fx.symbolic_trace(f)
again = fx.symbolic_trace(gm)
out = [str(gm.graph), gm.code, gm(torch.ones(2)), again.code, len([1])]
"""


def test_wrapped_functions_stay_whole() -> None:
    """`wrap` as decorator and by name; tracing the result again keeps them whole."""
    assert play(mt, WRAPPED) == play(torch, WRAPPED)


@pytest.mark.parametrize("call", ["fx.wrap(3)", "(lambda: fx.wrap('len'))()", "fx.wrap('nothing')"])
def test_wrong_wraps(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `wrap` refuses."""
    # Torch keeps the name it was given, and every later trace in this process would stumble over it.
    monkeypatch.setattr(torch.fx._symbolic_trace, "_wrapped_fns_to_patch", {})
    assert play(mt, f"out = {call}") == play(torch, f"out = {call}")
