"""Sparse attention masks in blocks; public through ``nn.attention.flex_attention``."""

import inspect
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor

_DEFAULT_SPARSE_BLOCK_SIZE = 128

_SLICED = """\
Cannot use mask_mod from a sliced BlockMask. When you slice a BlockMask using [], the mask_mod attribute is reset. \
You must set it from the original BlockMask's mask_mod.

Incorrect usage:
  base_mask = create_block_mask(my_mask_fn, ...)
  sliced_mask = base_mask[:, :, block_idx]
  sliced_mask.mask_mod = apply_offset(sliced_mask.mask_mod, offset)  # WRONG!

Correct usage:
  base_mask = create_block_mask(my_mask_fn, ...)
  sliced_mask = base_mask[:, :, block_idx]
  sliced_mask.mask_mod = apply_offset(base_mask.mask_mod, offset)  # Use base_mask!"""


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Let every query see every key.

    >>> from torch.nn.attention.flex_attention import noop_mask
    >>> noop_mask(torch.tensor(0), 0, 0, 0)
    tensor(True)
    """
    return batch.new_ones(size=(), dtype=mindtorch.bool, device=batch.device)


def _sliced_mask_mod_error(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Stand for the mask function of a sliced mask, whose indices would be wrong."""
    raise RuntimeError(_SLICED)


def index_grid(b: int, h: int, q_len: int, kv_len: int, device: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return batch, head, query and key indices that broadcast to (b, h, q_len, kv_len).

    Score and mask functions get these instead of one index at a time, so they must be written in tensor operations.
    """

    def along(dim: int, n: int) -> Tensor:
        shape = [1, 1, 1, 1]
        shape[dim] = n
        return mindtorch.arange(n, device=device).view(shape)

    return along(0, b), along(1, h), along(2, q_len), along(3, kv_len)


def takes_score(fn: Callable[..., Any]) -> bool:
    """Return whether ``fn`` is a score function (score and four indices) and not a mask function."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(fn).parameters.values()
    count = sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def create_mask(
    mod_fn: Callable[..., Tensor], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """Return the mask (B, H, Q_LEN, KV_LEN) that a mask function, or a score function by its -inf, describes.

    >>> from torch.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, k: q >= k, None, None, 2, 2, device="cpu")
    tensor([[[[ True, False],
              [ True,  True]]]])
    """
    b, h = B or 1, H or 1
    device = mindtorch.get_default_device() if device is None else device
    indices = index_grid(b, h, Q_LEN, KV_LEN, device)
    shape = (b, h, Q_LEN, KV_LEN)
    if takes_score(mod_fn):
        scores = mod_fn(mindtorch.zeros(shape, device=device), *indices)
        return (scores != -float("inf")).expand(shape).clone()
    return mod_fn(*indices).expand(shape).clone()


def _dense_to_ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """Return how many blocks each row has, and the columns with those of the row first."""
    dense = dense.to(dtype=mindtorch.int32)
    counts = dense.sum(dim=-1).to(mindtorch.int32)
    order = mindtorch.argsort(dense, dim=-1, descending=True, stable=True)
    return counts, order.to(mindtorch.int32)


def _ordered_to_dense(counts: Tensor, columns: Tensor, num_cols: int) -> Tensor:
    """Undo :func:`_dense_to_ordered`."""
    position = mindtorch.arange(columns.shape[-1], device=columns.device)
    present = (position < counts.unsqueeze(-1)).to(mindtorch.int32)
    dense = mindtorch.zeros((*columns.shape[:-1], num_cols), dtype=mindtorch.int32, device=columns.device)
    return dense.scatter_(-1, columns.to(mindtorch.int64), present)


def _transpose_ordered(counts: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    dense = _ordered_to_dense(counts, columns, columns.shape[-1])
    return _dense_to_ordered(dense.transpose(-2, -1))


_TENSORS = (
    "kv_num_blocks",
    "kv_indices",
    "full_kv_num_blocks",
    "full_kv_indices",
    "q_num_blocks",
    "q_indices",
    "full_q_num_blocks",
    "full_q_indices",
    "dq_write_order",
    "dq_write_order_full",
)


class BlockMask:
    """Which blocks of scores are computed: partly masked ones (``kv_*``) and full ones (``full_kv_*``).

    Rows are blocks of queries; ``kv_indices`` lists, per row, first its ``kv_num_blocks`` columns. The ``q_*`` fields
    say the same per column.

    >>> from torch.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda batch, head, q, k: q >= k, 1, 1, 256, 256, device="cpu")
    >>> mask.shape, mask.BLOCK_SIZE
    ((1, 1, 256, 256), (128, 128))
    >>> mask.to_dense()
    tensor([[[[1, 0],
              [1, 1]]]], dtype=torch.int32)
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: Callable[..., Tensor] = noop_mask,
        *,
        dq_write_order: Tensor | None = None,
        dq_write_order_full: Tensor | None = None,
        dq_kv_order: Any = None,
        dq_kv_order_spt: Any = None,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.dq_write_order = dq_write_order
        self.dq_write_order_full = dq_write_order_full
        self.dq_kv_order = dq_kv_order
        self.dq_kv_order_spt = dq_kv_order_spt
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: Callable[..., Tensor] | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> "BlockMask":
        """Return the mask given per row; the columns' view is derived."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        q_blocks: tuple[Tensor | None, Tensor | None] = (None, None)
        full_q_blocks: tuple[Tensor | None, Tensor | None] = (None, None)
        if compute_q_blocks:
            q_blocks = _transpose_ordered(kv_num_blocks, kv_indices)
            if full_kv_num_blocks is not None:
                full_q_blocks = _transpose_ordered(full_kv_num_blocks, full_kv_indices)
        if isinstance(BLOCK_SIZE, int):
            BLOCK_SIZE = (BLOCK_SIZE, BLOCK_SIZE)
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * BLOCK_SIZE[0], kv_indices.shape[-1] * BLOCK_SIZE[1])
        return cls(
            seq_lengths,
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            *q_blocks,
            *full_q_blocks,
            BLOCK_SIZE=BLOCK_SIZE,
            mask_mod=mask_mod or noop_mask,
        )

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Return all fields."""
        block_size = (self.BLOCK_SIZE[0], self.BLOCK_SIZE[1]) if flatten else (self.BLOCK_SIZE,)
        lengths = (self.seq_lengths[0], self.seq_lengths[1]) if flatten else (self.seq_lengths,)
        tensors = [getattr(self, name) for name in _TENSORS]
        return (*lengths, *tensors, self.dq_kv_order, self.dq_kv_order_spt, *block_size, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch, heads, query length, key length."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """Return the number of scores the mask is about."""
        total = 1
        for size in self.shape:
            total *= size
        return total

    def sparsity(self) -> float:
        """Return the percentage of scores that are not computed."""
        blocks = self.kv_num_blocks.sum()
        if self.full_kv_num_blocks is not None:
            blocks = blocks + self.full_kv_num_blocks.sum()
        computed = blocks.item() * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - computed / self.numel())

    def to_dense(self) -> Tensor:
        """Return which blocks are computed, (B, H, row blocks, column blocks)."""
        columns = self.kv_indices.shape[-1]
        dense = _ordered_to_dense(self.kv_num_blocks, self.kv_indices, columns)
        if self.full_kv_num_blocks is None:
            return dense
        return dense | _ordered_to_dense(self.full_kv_num_blocks, self.full_kv_indices, columns)

    def __getitem__(self, index: Any) -> "BlockMask":
        """Return the mask of some batches and heads; its ``mask_mod`` must be set anew."""
        index = tuple(
            slice(i + n, i + n + 1) if isinstance(i, int) and i < 0 else slice(i, i + 1) if isinstance(i, int) else i
            for i, n in zip(index if isinstance(index, tuple) else (index,), self.kv_indices.shape, strict=False)
        )
        full = self.full_kv_num_blocks is not None
        return BlockMask.from_kv_blocks(
            self.kv_num_blocks[index],
            self.kv_indices[index],
            self.full_kv_num_blocks[index] if full else None,
            self.full_kv_indices[index] if full else None,
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=_sliced_mask_mod_error,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> "BlockMask":
        """Return the upper left part of the mask for shorter sequences."""
        rows = (new_q_len + self.BLOCK_SIZE[0] - 1) // self.BLOCK_SIZE[0]
        columns = (new_kv_len + self.BLOCK_SIZE[1] - 1) // self.BLOCK_SIZE[1]

        def cut(counts: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
            if counts is None:
                return None, None
            dense = _ordered_to_dense(counts, indices, indices.shape[-1])
            return _dense_to_ordered(dense[..., :rows, :columns])

        return BlockMask.from_kv_blocks(
            *cut(self.kv_num_blocks, self.kv_indices),
            *cut(self.full_kv_num_blocks, self.full_kv_indices),
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=(new_q_len, new_kv_len),
        )

    def to(self, device: Any) -> "BlockMask":
        """Return the mask on ``device``."""
        moved = BlockMask.__new__(BlockMask)
        moved.__dict__.update(self.__dict__)
        for name in _TENSORS:
            value = getattr(self, name)
            setattr(moved, name, None if value is None else value.to(device))
        return moved

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """Draw the computed blocks of at most ``limit`` heads, at most ``grid_size`` cells each; -1 draws all."""
        dense = self.to_dense()
        *batch_dims, rows, columns = dense.shape
        if isinstance(grid_size, int):
            limits = (grid_size, grid_size)
        else:
            limits = grid_size
        row_step = 1 if limits[0] == -1 else max(1, -(-rows // limits[0]))
        column_step = 1 if limits[1] == -1 else max(1, -(-columns // limits[1]))
        flat = dense.reshape(-1, rows, columns)
        drawings = []
        for number, index in enumerate(mindtorch.cartesian_prod(*[mindtorch.arange(n) for n in batch_dims]).tolist()):
            if number == limit:
                drawings.append(
                    "...\nTo print out more, set BlockMask.to_string(limit=N)\nYou can also index (BlockMask[batch, "
                    "head]) to choose a specific batch or head"
                )
                break
            drawings.append(f"{tuple(index)}\n" + _drawn(flat[number].tolist(), row_step, column_step))
        return "\n".join(drawings)

    def __str__(self) -> str:
        text = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{text}\n)"

    def __repr__(self) -> str:
        lines = [
            f"    {name}={None if getattr(self, name) is None else getattr(self, name).shape}," for name in _TENSORS[:8]
        ]
        name = getattr(self.mask_mod, "__name__", repr(self.mask_mod))
        lines += [
            f"    BLOCK_SIZE={self.BLOCK_SIZE},",
            f"    shape={self.shape},",
            f"    sparsity={self.sparsity():.2f}%,",
            f"    mask_mod={name}",
        ]
        return "BlockMask(\n" + "\n".join(lines) + "\n)"


def _drawn(blocks: list[list[int]], row_step: int, column_step: int) -> str:
    text = ""
    for top in range(0, len(blocks), row_step):
        for left in range(0, len(blocks[0]), column_step):
            cell = [row[left : left + column_step] for row in blocks[top : top + row_step]]
            share = sum(map(sum, cell)) / sum(map(len, cell))
            text += "██" if share == 1 else "░░" if share > 0 else "  "
        text += "\n"
    return text


def create_block_mask(
    mask_mod: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """Return the block mask of ``mask_mod(b, h, q_idx, kv_idx)``; None for ``B`` or ``H`` means it is not used.

    ``_compile`` and the write orders concern CUDA kernels and change nothing here.

    >>> from torch.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda batch, head, q, k: q >= k, 1, 1, 256, 256, device="cpu")
    >>> mask.kv_num_blocks, mask.sparsity()
    (tensor([[[1, 1]]], dtype=torch.int32), 25.0)
    """
    if isinstance(BLOCK_SIZE, int):
        BLOCK_SIZE = (BLOCK_SIZE, BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    rows, columns = -(-Q_LEN // BLOCK_SIZE[0]), -(-KV_LEN // BLOCK_SIZE[1])
    padding = [0, columns * BLOCK_SIZE[1] - KV_LEN, 0, rows * BLOCK_SIZE[0] - Q_LEN]
    padded = mindtorch.nn.functional.pad(mask.to(mindtorch.int32), padding)
    blocks = padded.view(*mask.shape[:2], rows, BLOCK_SIZE[0], columns, BLOCK_SIZE[1])
    seen = blocks.sum(dim=(-3, -1))
    full = seen == BLOCK_SIZE[0] * BLOCK_SIZE[1]
    partial = (seen > 0) & ~full if separate_full_blocks else seen > 0
    return BlockMask.from_kv_blocks(
        *_dense_to_ordered(partial),
        *(_dense_to_ordered(full) if separate_full_blocks else (None, None)),
        BLOCK_SIZE=BLOCK_SIZE,
        mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )
