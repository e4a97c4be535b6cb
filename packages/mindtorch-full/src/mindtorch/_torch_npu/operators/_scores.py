"""Attention in the vendor's layouts: how operands are laid out, which columns a row sees, and the launch itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mindtorch as torch
from mindtorch._ops import ops
from mindtorch.tensor.tensor import Tensor
from mindtorch_npu.generator import default_generator

FULL, EVERYTHING, TOP_LEFT, BOTTOM_RIGHT, BAND, PREFIX, SHORT_PREFIX, LAST_BAND, FIRST_BAND = range(9)
"""Modes of masks. From `TOP_LEFT` on, but for `PREFIX`, the mask is a corner of one and the mode says what is hidden."""
EVERY = 2147483647
LAYOUTS = ("BSH", "SBH", "BSND", "BNSD", "TND")


@dataclass
class Call:
    """One call's arguments that are no tensors of its inputs."""

    name: str
    heads: int
    layout: str
    scale: float
    keep: float
    before: int = EVERY
    after: int = EVERY
    mode: int = FULL
    ends: tuple[Sequence[int], Sequence[int]] | None = None
    add_first: bool = True
    seed: int | None = None
    offset: int = 0
    prefix: Sequence[int] | None = None

    def check(self, pse: Tensor | None) -> None:
        """Raise RuntimeError for a mode that does not go with the layout, with `pse`, or without `prefix`."""
        if not 0 <= self.mode <= FIRST_BAND:
            raise RuntimeError(f"torch_npu.{self.name}: sparse_mode must be 0 to 8, but got {self.mode}")
        if self.mode == PREFIX and self.layout == "TND":
            raise RuntimeError(f"torch_npu.{self.name}: sparse_mode 5 does not go with the layout TND")
        if self.mode in (LAST_BAND, FIRST_BAND) and (self.layout != "TND" or pse is not None):
            raise RuntimeError(
                f"torch_npu.{self.name}: sparse_mode {self.mode} goes with the layout TND alone, without pse"
            )
        if self.mode in (PREFIX, SHORT_PREFIX) and not self.prefix:
            raise RuntimeError(f"torch_npu.{self.name}: sparse_mode {self.mode} needs prefix")

    def refuse(self, what: str) -> None:
        """Raise NotImplementedError for what is not computed."""
        raise NotImplementedError(f"torch_npu.{self.name}: {what} is not supported")


def heads_first(x: Tensor, layout: str, heads: int) -> Tensor:
    """Return a tensor of batch, head, row and width."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout == "BSH":
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)
    return x.unflatten(-1, (heads, -1)).permute(1, 2, 0, 3)


def back(x: Tensor, layout: str) -> Tensor:
    """Return what `heads_first` has turned as it lay."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout == "BSH":
        return x.transpose(1, 2).flatten(2)
    return x.permute(2, 0, 1, 3).flatten(2)


def hidden(
    call: Call, mask: Tensor | None, rows: int, columns: int, device: torch.device, at: int | None = None
) -> Tensor | None:
    """Return which columns a row must not see, None where it sees all: without a mask the mode says nothing.

    `at` is which sequence of the layout TND the rows and columns are of.
    """
    if mask is None:
        return None
    mode = call.mode
    if mode in (LAST_BAND, FIRST_BAND):
        count = len(call.ends[0]) if call.ends else 1
        rest, place = (BOTTOM_RIGHT, count - 1) if mode == LAST_BAND else (TOP_LEFT, 0)
        mode = BAND if at == place else rest
    if mode in (FULL, EVERYTHING, PREFIX):
        found = mask.bool()[..., :rows, :columns]
        if mode == FULL and (call.before < rows or call.after < columns):
            found = found | _outside(call.before, call.after, 0, rows, columns, device)
        return found.reshape(*(1,) * (4 - found.dim()), *found.shape) if found.dim() == 3 else found
    if mode == TOP_LEFT:
        return _outside(EVERY, 0, 0, rows, columns, device)
    before, after = (call.before, call.after) if mode == BAND else (EVERY, 0)
    made = _outside(before, after, columns - rows, rows, columns, device)
    if mode == SHORT_PREFIX and call.prefix:
        lengths = call.prefix if at is None else call.prefix[at : at + 1]
        seen = torch.arange(columns, device=device) < torch.tensor(list(lengths), device=device).reshape(-1, 1, 1, 1)
        return made & ~seen
    return made


def _outside(before: int, after: int, shift: int, rows: int, columns: int, device: torch.device) -> Tensor:
    """Return a mask of the columns before and after a band about the diagonal, which begins at a column."""
    ones = torch.ones(rows, columns, dtype=torch.bool, device=device)
    found = ones.triu(shift + after + 1) if after < columns else torch.zeros_like(ones)
    return found | ones.tril(shift - before - 1) if before < rows + abs(shift) else found


def reserve(call: Call, like: Tensor, count: int) -> None:
    """Let the call know the seed of so many chances, unless it was given one."""
    if call.keep == 1.0 or call.seed is not None:
        return
    if like.device.type == "npu":
        call.seed, call.offset = default_generator(like.device.index).draw(count)
    else:
        call.seed = int(torch.randint(2**31, ()))


def drawn(call: Call, like: Tensor, count: int, at: int = 0) -> Tensor | None:
    """Return which of so many weights dropout keeps, as bits; the first one's chance is at a place of the stream."""
    if call.keep == 1.0:
        return None
    offset = call.offset + at
    if like.device.type == "npu":
        return ops.npu._npu_dropout_mask(like, count, 1 - call.keep, call.seed, offset)
    stream = torch.Generator().manual_seed((call.seed or 0) + offset)
    return ops.npu._npu_dropout_mask(like, count, 1 - call.keep, generator=stream)


def launched(
    call: Call, q: Tensor, k: Tensor, v: Tensor, pse: Tensor | None, mask: Tensor | None, kept: Tensor | None,
    at: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return attention of tensors with heads first, each row's largest score and its sum."""
    left_out = hidden(call, mask, q.shape[2], k.shape[2], q.device, at)
    factor = call.scale
    if pse is not None:
        pse = pse.reshape(*(1,) * (4 - pse.dim()), *pse.shape)
        pse = pse.expand(pse.shape[0], q.shape[1], q.shape[2], k.shape[2])
        if not call.add_first:
            q = torch.mul(q, factor)
            factor = 1.0
        if pse.requires_grad and torch.is_grad_enabled():
            return _with_gradient(call, (q, k, v), pse, left_out, kept, factor)
    return ops.npu._npu_attention(q, k, v, pse, left_out, kept, factor, call.keep)


def _with_gradient(
    call: Call, given: tuple[Tensor, Tensor, Tensor], pse: Tensor, left_out: Tensor | None, kept: Tensor | None,
    factor: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the same of operators that hand a gradient to what is added to the scores, too: the fused one does not."""
    q, k, v = given
    share = q.shape[1] // k.shape[1]
    k, v = (one.repeat_interleave(share, 1) if share > 1 else one for one in (k, v))
    scores = (q @ k.transpose(-2, -1) + pse) * factor
    if left_out is not None:
        scores = scores.masked_fill(left_out, float("-inf"))
    largest = scores.amax(-1, keepdim=True).detach()
    weights = torch.exp((scores - largest).float())
    sums = weights.sum(-1, keepdim=True)
    shares = (weights / sums).to(q.dtype)
    if kept is not None:
        shares = ops.npu.npu_dropout_backward(shares, kept, 1 - call.keep)
    out = shares @ v
    eight = (*q.shape[:3], 8)
    return out, largest.float().expand(eight).contiguous(), sums.detach().expand(eight).contiguous()


def sequences(call: Call) -> Iterator[tuple[slice, slice]]:
    """Give where each sequence of the layout TND lies."""
    if call.ends is None:
        raise RuntimeError(f"torch_npu.{call.name}: the layout TND needs actual_seq_qlen and actual_seq_kvlen")
    begin = (0, 0)
    for end in zip(*call.ends, strict=True):
        yield slice(begin[0], end[0]), slice(begin[1], end[1])
        begin = end


def attend(
    call: Call, query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, mask: Tensor | None,
    kept: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, int]:  # fmt: skip
    """Return attention, each row's largest score and its sum, and how many weights dropout has drawn for."""
    if call.layout not in LAYOUTS:
        call.refuse(f"the layout {call.layout}")
    call.check(pse)
    if call.layout == "TND":
        return _attend_sequences(call, query, key, value, pse, mask, kept)
    width = query.shape[-1] // call.heads if call.layout in ("BSH", "SBH") else 0
    heads = [x.shape[-1] // width if width else call.heads for x in (query, key, value)]
    q, k, v = (heads_first(x, call.layout, n) for x, n in zip((query, key, value), heads, strict=True))
    count = q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2]
    reserve(call, query, count)
    bits = drawn(call, query, count) if kept is None else kept
    out, largest, sums = launched(call, q, k, v, pse, mask, bits)
    return back(out, call.layout), largest, sums, count if call.keep < 1 else 0


def _attend_sequences(
    call: Call, query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, mask: Tensor | None, kept: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, int]:
    if kept is not None:
        call.refuse("dropout_mask with the layout TND")
    parts = list(sequences(call))
    counts = [query.shape[1] * (rows.stop - rows.start) * (cols.stop - cols.start) for rows, cols in parts]
    places = [sum((count + 3) // 4 * 4 for count in counts[:at]) for at in range(len(counts) + 1)]
    reserve(call, query, places[-1])
    made = []
    for at, ((rows, columns), count, place) in enumerate(zip(parts, counts, places, strict=False)):
        q, k, v = (x[part].transpose(0, 1)[None] for x, part in ((query, rows), (key, columns), (value, columns)))
        made.append(launched(call, q, k, v, pse, mask, drawn(call, query, count, place), at))
    out, largest, sums = (torch.cat([one[i][0].transpose(0, 1) for one in made]) for i in range(3))
    return out, largest, sums, places[-1] if call.keep < 1 else 0
