"""Programs that are traced and call what is compiled: functions, modules, other traces."""

from typing import NamedTuple

import torch


class Pair(NamedTuple):
    first: torch.Tensor
    count: int


@torch.jit.script
def summed(x):
    y = torch.zeros_like(x)
    for i in range(x.size(0)):
        y = y + x[i]
    return y


@torch.jit.script
def branching(x):
    if bool(x.sum() > 0):
        return x * 2
    else:
        return x - 1


@torch.jit.script
def writing(x, add: float = 1):
    for _ in range(x.size(0)):
        x.add_(add)
    return x


@torch.jit.script
def packed(
    x, n: int, rest: list[torch.Tensor], k: float = 2.0
) -> tuple[torch.Tensor, list[torch.Tensor], dict[str, torch.Tensor]]:
    for _ in range(n):
        x = x + k
    rest.append(x)
    return x * len(rest), rest, {"a": x + rest[0]}


@torch.jit.script
def chosen(x: torch.Tensor | None, y):
    if x is None:
        return y
    else:
        return x + y


@torch.jit.script_if_tracing
def only_traced(x):
    for _ in range(x.size(0)):
        x = x + 1
    return x


class Repeated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
        self.register_buffer("shift", torch.ones(2))

    def forward(self, x):
        for i in range(x.size(0)):
            x = self.inner(x) * 0.5 + i + self.shift
        return x

    @torch.jit.export
    def twice(self, x, n: int = 2):
        for _ in range(n):
            x = branching(x)
        return x


def filled(module):
    for place, one in enumerate(module.parameters()):
        one.data = torch.linspace(-1, 1, one.numel()).reshape(one.shape) + 0.1 * place
    return module


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
        self.repeated = torch.jit.script(filled(Repeated()))
        self.more = torch.nn.Sequential(
            torch.nn.Linear(2, 2), torch.jit.script(torch.nn.Sequential(filled(Repeated())))
        )
        self.traced = torch.jit.trace(filled(torch.nn.Linear(2, 2)), torch.ones(2, 2))

    def forward(self, x):
        y = self.more(branching(self.inner(x)))
        return self.repeated(y) + self.repeated.twice(x, n=3) + self.traced(x)


def through_containers(x):
    first, rest, named = packed(x, 3, [x, x * 2], k=1)
    return first, rest[2], named["a"]


def in_place(x):
    y = x * 1
    writing(y)
    return y + x


def of_traced(x):
    return traced(traced(x)) + 1


def nothing_given(x):
    return chosen(None, x) + chosen(y=x, x=x)


traced = torch.jit.trace(lambda x: branching(x) + 1, (torch.ones(2),))
CASES = {
    "loop": lambda: lambda x: summed(x) + 1,
    "branch": lambda: lambda x: branching(x) * branching(x + 3),
    "in place": lambda: in_place,
    "containers": lambda: through_containers,
    "optional": lambda: nothing_given,
    "traced": lambda: of_traced,
    "if tracing": lambda: lambda x: only_traced(x) * 2,
    "modules": lambda: filled(Whole()),
}
INPUTS = [torch.ones(2, 2), torch.full((4, 2), -1.0), torch.tensor([[0.5, -2.0]] * 3)]


class Plain(torch.nn.Module):
    def forward(self, x, n: int = 2):
        return x * n


def counted(x):
    return x.size(0)


def take_int(x: int):
    return x


def take_float(x: float):
    return x


def take_bool(x: bool):
    return x


def take_str(x: str):
    return x


def take_complex(x: complex):
    return x


def take_tensor(x: torch.Tensor):
    return x


def take_optional_of_int(x: int | None):
    return x


def take_list_of_int(x: list[int]):
    return x


def take_list_of_float(x: list[float]):
    return x


def take_list_of_optional_of_int(x: list[int | None]):
    return x


def take_list_of_tensor(x: list[torch.Tensor]):
    return x


def take_tuple_of_int_float(x: tuple[int, float]):
    return x


def take_dict_of_str_int(x: dict[str, int]):
    return x


def take_device(x: torch.device):
    return x


TAKERS = [
    take_int,
    take_float,
    take_bool,
    take_str,
    take_complex,
    take_tensor,
    take_optional_of_int,
    take_list_of_int,
    take_list_of_float,
    take_list_of_optional_of_int,
    take_list_of_tensor,
    take_tuple_of_int_float,
    take_dict_of_str_int,
    take_device,
]
VALUES = [
    1, 1.5, True, "a", None, 1j, torch.tensor(3), torch.ones(2), [1, 2], (1, 2), [], {}, {"a": 1}, [1.5], [torch.ones(1)],
    torch.device("cpu"), Pair(torch.ones(1), 2), "cpu", [None],
]  # fmt: skip


def several(x, n: int, rest: list[torch.Tensor], k: float = 2.0, o: int | None = None):
    return x * n


_x = torch.ones(2)
REFUSED = {
    "missing": lambda f: f(_x),
    "nothing": lambda f: f(),
    "too many": lambda f: f(_x, 1, [_x], 2.0, 3, 4),
    "unknown": lambda f: f(_x, 1, [_x], z=3),
    "twice": lambda f: f(_x, 1, [_x], n=3),
    "inferred": lambda f: f(1, 1, [_x]),
    "int": lambda f: f(_x, 1.5, [_x]),
    "list": lambda f: f(_x, 1, [1]),
    "optional": lambda f: f(_x, 1, [_x], o="a"),
}
