"""Functions that are scripted by both libraries: see `programs.load`. Their annotations are of the kinds that programs write."""

# ruff: noqa: UP006, UP007, UP032, UP035, UP045, F821, E741, B007, B905, RUF059
import math
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import torch
import torch.nn.functional as F

CASES = {}


def case(given):
    def keep(function):
        CASES[function.__name__] = function, given
        return function

    return keep


def t(*shape):
    count = math.prod(shape)
    return torch.arange(float(count)).reshape(*shape) / 7 - 0.5


@case(lambda: (t(3, 4), 6))
def early(x, n: int):
    for i in range(n):
        if x.sum() > 10:
            return x
        if i == 3:
            continue
        x = x + i
    return x - 1


@case(lambda: (t(3, 4), True))
def cond(x, a: bool):
    if a:
        if x.sum() > 1:
            return x * 2
        x = x + 1
    else:
        x = x * 3
    return x - 1


@case(lambda: (t(3, 4, 5), {"a": 1, "b": 2}, ["xx", "y"]))
def d2(x, k: Dict[str, int], l: List[str]):
    s = 0
    for q, v in k.items():
        s += v
    for i, w in enumerate(l):
        s += len(w) * i
    return (
        [x],
        s,
        f"{s} and {l[0]}",
        {"a": s},
        x[0, 1:, None, ..., ::2],
        x.shape[0] / 2,
        s // 3,
        x.size(0) % 2,
        -s,
        l[0].upper(),
        s**2,
    )


@case(lambda: (torch.tensor(3), 2))
def ty(x, n: int) -> int:
    return x


@case(lambda: (t(3, 4), None))
def opt(x, m: Optional[torch.Tensor] = None):
    if m is not None:
        x = x * m
    if m is None:
        m = torch.ones(3, 4)
    return x + m


@case(lambda: (t(3, 4),))
def whiles(x):
    n = 0
    while x.sum() < 100 and n < 20:
        x = x * 2
        n += 1
        if n == 5:
            break
    return x, n


@case(lambda: (5,))
def fib(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case(lambda: (t(4),))
def lists(x):
    out: List[torch.Tensor] = []
    for i in range(x.size(0)):
        out.append(x[i] * i)
    out.insert(0, x[0])
    last = out.pop()
    return torch.stack(out), last, len(out)


@case(lambda: (t(2, 3),))
def comp(x):
    l = [i * 2 for i in range(5)]
    m = [float(k) for k in l]
    return l, m, x * sum(l), max(l), min(m)


@case(lambda: ("Hello World",))
def strings(s: str) -> Tuple[str, List[str], bool, int]:
    parts = s.lower().split(" ")
    return "-".join(parts) + "{} {}".format(1, 2.5), parts, s.startswith("He"), s.find("W")


@case(lambda: (t(2, 2), 3))
def asserts(x, n: int):
    assert n > 2, f"n is {n}"
    if n > 10:
        raise ValueError("too large")
    return x * n


@case(lambda: (t(2, 2), 1))
def asserts_fail(x, n: int):
    assert n > 2, f"n is {n}"
    return x * n


@case(lambda: (t(2, 2), 11))
def raises(x, n: int):
    if n > 10:
        raise ValueError(f"too large {n}")
    return x * n


def helper(x, scale: float = 2.0):
    return x * scale


@case(lambda: (t(2, 2),))
def calls(x):
    return helper(x) + helper(x, 3.0) + helper(x, scale=4.0)


@case(lambda: (t(2, 2),))
def functional(x):
    return F.relu(x) + F.softmax(x, dim=-1) + F.gelu(x) + torch.sigmoid(x)


@case(lambda: (t(2, 3, 4),))
def shapes(x):
    b, c, n = x.shape
    return x.view(b * c, n), x.reshape(b, -1), x.permute(2, 0, 1), x.transpose(1, 2).contiguous(), x.flatten(1)


@case(lambda: (t(2, 3),))
def dicts(x):
    d = {"a": x, "b": x + 1}
    d["c"] = x * 2
    total = torch.zeros_like(x)
    for k in d:
        total = total + d[k]
    for k, v in d.items():
        if k == "a":
            total += v
    return total, "a" in d, d.get("b")


class Point(NamedTuple):
    x: torch.Tensor
    n: int


@case(lambda: (t(2),))
def named(x):
    p = Point(x, 3)
    return p.x * p.n, p


@case(lambda: (t(5),))
def maths(x):
    a = math.sqrt(2.0) + math.pi
    return x * a, math.floor(2.7), abs(-3), round(2.5), 7 // 2, 7 % 3, 2**3, 7 / 2, math.log(2)


@case(lambda: (t(3), t(3)))
def compare(x, y):
    return x < y, 1 - x, 2 / (x + 5), 3 > x, x == y, ~(x > 0), (x > 0) & (y > 0), x @ y, x // 2, x % 2, 2**x


@case(lambda: (t(6),))
def indexes(x):
    m = x > 0
    y = x[m]
    z = x.clone()
    z[m] = 0.0
    idx = torch.tensor([0, 2])
    return y, z, x[idx], x[-1], x[1:3], x[None]


@case(lambda: (t(3), 2))
def nested(x, n: int):
    for i in range(n):
        for j in range(3):
            if j == 2:
                break
            if i == j:
                continue
            x = x + i * j + 1
    return x


@case(lambda: (t(3),))
def zips(x):
    s = x
    for i, (a, b) in enumerate(zip([1, 2, 3], [4, 5, 6])):
        s = s + a * b + i
    for j in range(1, 10, 3):
        s = s + j
    for e in x:
        s = s + e
    return s


@case(lambda: (t(3),))
def scripting(x):
    if torch.jit.is_scripting():
        return x + 1
    else:
        return some_unknown(x)


@case(lambda: (t(3), [1, 2]))
def union(x, y: Union[int, List[int]]):
    if isinstance(y, int):
        return x + y
    else:
        return x + y[0]


@case(lambda: (t(3),))
def ann(x):
    a = torch.jit.annotate(List[int], [])
    b = torch.jit.annotate(Optional[int], None)
    a.append(3)
    if b is None:
        b = 4
    return x + a[0] + b


@case(lambda: (t(3),))
def ifexp(x):
    y = x if x.sum() > 0 else x + 1
    z = 1 if x.size(0) > 2 else 2
    return y * z


@case(lambda: (t(3), 3))
def swap(x, n: int):
    while True:
        if n > 5:
            break
        n += 1
        x = x + n
    return x


@case(lambda: (t(3, 2),))
def unpack(x):
    a, b = x.max(dim=1)
    v, i = torch.topk(x, 2, dim=0)
    (c, d), e = (1, 2), 3
    q = torch.split(x, 1)
    f, g, h = q[0], q[1], q[2]
    return a, b, v, c + d + e, f, torch.cat([g, h], dim=0), torch.chunk(x, 3)[0]
