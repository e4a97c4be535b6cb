"""What draws, moves and picks elements: one kernel each."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

SQUARE = (1024, 1024)
TABLE = (30522, 768)

aten = torch.ops.aten
Step = Callable[[], object]


def uniform() -> Step:
    """By torch's own random stream, as all draws here."""
    x = torch.empty(SQUARE)
    return lambda: x.uniform_(-0.1, 0.1)


def normal() -> Step:
    """Box-Muller."""
    x = torch.empty(SQUARE)
    return lambda: x.normal_()


def randint() -> Step:
    """Token numbers."""
    return lambda: torch.randint(0, 30000, SQUARE)


def randperm() -> Step:
    """An epoch's order."""
    return lambda: torch.randperm(100_000)


def transpose() -> Step:
    """Rows become columns."""
    x = torch.randn(SQUARE).t()
    return lambda: x.contiguous()


def heads() -> Step:
    """As attention splits them."""
    x = torch.randn(4, 128, 12, 64).transpose(1, 2)
    return lambda: x.contiguous()


def channels_last() -> Step:
    """An image batch."""
    x = torch.randn(32, 64, 28, 28)
    return lambda: x.contiguous(memory_format=torch.channels_last)


def to_bfloat16() -> Step:
    """Rounded."""
    x = torch.randn(SQUARE)
    return lambda: x.to(torch.bfloat16)


def to_float16() -> Step:
    """Rounded."""
    x = torch.randn(SQUARE)
    return lambda: x.to(torch.float16)


def fill() -> Step:
    """One number."""
    x = torch.empty(SQUARE)
    return lambda: x.fill_(2.0)


def cat() -> Step:
    """Along the last dimension."""
    x, y = torch.randn(512, 768), torch.randn(512, 768)
    return lambda: torch.cat([x, y], -1)


def pad() -> Step:
    """A frame of zeros."""
    x = torch.randn(32, 64, 28, 28)
    return lambda: F.pad(x, (1, 1, 1, 1))


def triangle() -> Step:
    """A causal mask."""
    x = torch.randn(SQUARE)
    return lambda: x.tril()


def rows() -> Step:
    """By advanced indexing."""
    x, places = torch.randn(TABLE), torch.randint(0, TABLE[0], (1024,))
    return lambda: x[places]


def put_rows() -> Step:
    """Added, where numbers repeat."""
    x, places, values = torch.zeros(TABLE), torch.randint(0, TABLE[0], (1024,)), torch.randn(1024, TABLE[1])
    return lambda: x.index_put_((places,), values, accumulate=True)


def masked() -> Step:
    """A third of a square."""
    x, mask = torch.randn(SQUARE), torch.rand(SQUARE) < 0.33
    return lambda: x[mask]


def gather() -> Step:
    """A square, along its rows."""
    x, places = torch.randn(SQUARE), torch.randint(0, 1024, SQUARE)
    return lambda: x.gather(1, places)


def scatter_add() -> Step:
    """A square, along its rows."""
    x, places, values = torch.zeros(SQUARE), torch.randint(0, 1024, SQUARE), torch.randn(SQUARE)
    return lambda: x.scatter_add_(1, places, values)


def embedding() -> Step:
    """Of a batch of four texts."""
    table, numbers = torch.randn(TABLE), torch.randint(0, TABLE[0], (4, 128))
    return lambda: F.embedding(numbers, table)


def bags() -> Step:
    """Means of sixteen rows."""
    table, numbers = torch.randn(TABLE[0], 64), torch.randint(0, TABLE[0], (4096,))
    begins = torch.arange(0, 4096, 16)
    return lambda: F.embedding_bag(numbers, table, begins, mode="mean")


def topk() -> Step:
    """As a sampler asks."""
    x = torch.randn(4, 50257)
    return lambda: x.topk(50)


def nonzero() -> Step:
    """A third of a square."""
    mask = torch.rand(SQUARE) < 0.33
    return lambda: mask.nonzero()


def stack() -> Step:
    """Along a new last dimension."""
    x, y = torch.randn(512, 768), torch.randn(512, 768)
    return lambda: torch.stack([x, y], -1)


def split_and_cat() -> Step:
    """Four parts of the last dimension."""
    x = torch.randn(512, 768)
    return lambda: torch.cat(x.split(192, -1), -1)


def repeat() -> Step:
    """In both dimensions."""
    x = torch.randn(256, 512)
    return lambda: x.repeat(4, 2)


def roll() -> Step:
    """Along rows."""
    x = torch.randn(SQUARE)
    return lambda: x.roll(3, -1)


def flip() -> Step:
    """Rows backwards."""
    x = torch.randn(SQUARE)
    return lambda: x.flip(-1)


def index_select_columns() -> Step:
    """Half of the columns."""
    x, places = torch.randn(512, 1024), torch.randint(0, 1024, (512,))
    return lambda: x.index_select(1, places)


def index_add() -> Step:
    """512 rows added."""
    x, places, y = torch.zeros(4096, 768), torch.randint(0, 4096, (512,)), torch.randn(512, 768)
    return lambda: x.index_add_(0, places, y)


def one_hot() -> Step:
    """128 classes."""
    x = torch.randint(0, 128, (2048,))
    return lambda: F.one_hot(x, 128)


def scatter_greatest() -> Step:
    """A square, along its rows."""
    x, places, values = torch.randn(SQUARE), torch.randint(0, 1024, SQUARE), torch.randn(SQUARE)
    return lambda: x.scatter_reduce(1, places, values, "amax")


def index_copy_columns() -> Step:
    """All columns, in another order."""
    x, places, y = torch.randn(SQUARE), torch.randperm(1024), torch.randn(SQUARE)
    return lambda: x.index_copy(1, places, y)


def index_reduce() -> Step:
    """Rows, the greatest of which stay."""
    x, places, y = torch.randn(SQUARE), torch.randperm(1024), torch.randn(SQUARE)
    return lambda: x.index_reduce(0, places, y, "amax")


def triangle_places() -> Step:
    """Of half a square."""
    return lambda: torch.triu_indices(*SQUARE)
