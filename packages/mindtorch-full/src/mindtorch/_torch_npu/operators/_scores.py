"""Attention in the vendor's layouts: how operands are laid out, which columns a row sees, and the launch itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mindtorch as torch
from mindtorch._ops import ops
from mindtorch.tensor.tensor import Tensor
from mindtorch_npu.generator import default_generator

FULL, EVERYTHING, TOP_LEFT, BOTTOM_RIGHT, BAND = range(5)
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


def hidden(call: Call, mask: Tensor | None, rows: int, columns: int, device: torch.device) -> Tensor | None:
    """Return which columns a row must not see, None where it sees all."""
    if call.mode in (FULL, EVERYTHING):
        if mask is None:
            if call.mode == EVERYTHING:
                raise RuntimeError(f"torch_npu.{call.name}: sparse_mode 1 needs atten_mask")
            return None
        found = mask.bool()[..., :rows, :columns]
        if call.mode == FULL and (call.before < rows or call.after < columns):
            found = found | _outside(call.before, call.after, 0, rows, columns, device)
        return found.reshape(*(1,) * (4 - found.dim()), *found.shape) if found.dim() == 3 else found
    if call.mode == TOP_LEFT:
        return _outside(EVERY, 0, 0, rows, columns, device)
    if call.mode in (BOTTOM_RIGHT, BAND):
        before, after = (EVERY, 0) if call.mode == BOTTOM_RIGHT else (call.before, call.after)
        return _outside(before, after, columns - rows, rows, columns, device)
    call.refuse(f"sparse_mode {call.mode}")
    return None


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
    call: Call, q: Tensor, k: Tensor, v: Tensor, pse: Tensor | None, mask: Tensor | None, kept: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return attention of tensors with heads first, each row's largest score and its sum."""
    left_out = hidden(call, mask, q.shape[2], k.shape[2], q.device)
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
    if kept is not None:
        call.refuse("a gradient for pse with dropout")
    q, k, v = given
    share = q.shape[1] // k.shape[1]
    k, v = (one.repeat_interleave(share, 1) if share > 1 else one for one in (k, v))
    scores = (q @ k.transpose(-2, -1) + pse) * factor
    if left_out is not None:
        scores = scores.masked_fill(left_out, float("-inf"))
    largest = scores.amax(-1, keepdim=True).detach()
    weights = torch.exp((scores - largest).float())
    sums = weights.sum(-1, keepdim=True)
    out = (weights / sums).to(q.dtype) @ v
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
    for (rows, columns), count, place in zip(parts, counts, places, strict=False):
        q, k, v = (x[part].transpose(0, 1)[None] for x, part in ((query, rows), (key, columns), (value, columns)))
        made.append(launched(call, q, k, v, pse, mask, drawn(call, query, count, place)))
    out, largest, sums = (torch.cat([one[i][0].transpose(0, 1) for one in made]) for i in range(3))
    return out, largest, sums, places[-1] if call.keep < 1 else 0
