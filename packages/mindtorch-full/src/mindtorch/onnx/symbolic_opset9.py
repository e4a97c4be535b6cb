"""The translations of version 9 of the format: none, as nothing is exported; libraries name this module in their own."""

from collections.abc import Sequence

from mindtorch._naming import adopt

__all__: list[str] = []


def _prepare_onnx_paddings(dim: int, pad: Sequence[int]) -> list[int]:
    """Return the paddings of ``F.pad``, last dimension first, as ONNX has them: what lies before each, then what lies behind."""
    pairs = [*pad, *[0] * (2 * dim - len(pad))]
    return [*pairs[-2::-2], *pairs[-1::-2]]


adopt(globals())
