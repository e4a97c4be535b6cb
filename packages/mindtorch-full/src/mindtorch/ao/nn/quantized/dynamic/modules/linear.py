"""`Linear` with a quantized weight."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.nn import Module
from mindtorch_dispatch.meta.quantized import PANEL, WORD

__all__ = ["Linear"]

_VERSION = 4


class _PackedParams(Module):
    """Weight and bias, which a state dict has as a pair."""

    def __init__(self, weight: Any, bias: Any) -> None:
        super().__init__()
        self.dtype = torch.qint8
        self._packed_params = (weight, bias)
        self._panels_of: Any = None

    def _weight_bias(self) -> tuple[Any, Any]:
        return self._packed_params

    def panels(self) -> tuple[Any, Any]:
        """Return the packed weight and the sums of its rows, which are kept for as long as the weight is the same."""
        weight = self._packed_params[0]
        kept = self._panels_of
        if kept is None or kept[0] is not weight:
            packed = _panels(weight.int_repr())
            sums = packed.sum((1, 3), dtype=torch.int32).flatten()
            self._panels_of = kept = (weight, packed, sums)
        return kept[1], kept[2]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_panels_of": None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._packed_params

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        self.dtype = state_dict.pop(prefix + "dtype")
        self._packed_params = state_dict.pop(prefix + "_packed_params")
        super()._load_from_state_dict(state_dict, prefix, {}, False, *rest[2:])


class Linear(Module):
    """`nn.Linear` with an int8 weight; each input is quantized by its own range, and the result is float32.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> made = Linear.from_float(torch.nn.Linear(2, 3))
    >>> made(torch.ones(4, 2)).shape, made.weight().dtype
    (torch.Size([4, 3]), torch.qint8)
    """

    _version = _VERSION

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = torch.qint8) -> None:
        super().__init__()
        if dtype is not torch.qint8:
            raise NotImplementedError(
                "torch.ao.nn.quantized.dynamic.Linear: weights of another dtype than qint8 are not offered"
            )
        self.in_features, self.out_features = in_features, out_features
        self.scale, self.zero_point = 1.0, 0
        empty = torch._empty_affine_quantized([out_features, in_features], scale=1, zero_point=0, dtype=torch.qint8)
        self._packed_params = _PackedParams(empty, torch.zeros(out_features) if bias_ else None)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Linear:
        """Return the module for a `nn.Linear`; its weight is quantized symmetrically by its largest number."""
        weight = mod.weight.detach().float()
        # As torch: in float32, where a weight without a range has the least scale.
        largest = torch.max(-weight.min().clamp(max=0), weight.max().clamp(min=0))
        scale = torch.clamp(largest / 127.5, min=torch.finfo(torch.float32).eps)
        made = cls(mod.in_features, mod.out_features, mod.bias is not None)
        made.set_weight_bias(torch.quantize_per_tensor(weight, float(scale), 0, torch.qint8), mod.bias)
        return made

    def set_weight_bias(self, w: Any, b: Any) -> None:
        """Take another weight and bias."""
        self._packed_params._packed_params = (w, b)

    def weight(self) -> Any:
        """Return the quantized weight."""
        return self._packed_params._weight_bias()[0]

    def bias(self) -> Any:
        """Return the bias, in float32."""
        return self._packed_params._weight_bias()[1]

    def forward(self, x: Any) -> Any:
        """Multiply integers exactly, and round the scaled sum once."""
        weight, bias = self._packed_params._weight_bias()
        panels, sums = self._packed_params.panels()
        offset = None if bias is None else bias.detach()
        return torch.ops.quantized._linear_dynamic(
            x.detach(), panels, sums, offset, weight.shape[0], weight.q_scale(), weight.q_zero_point()
        )

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def extra_repr(self) -> str:
        """The sizes and how the weight is quantized."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}, "
            f"qscheme={self.weight().qscheme()}"
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = torch.tensor(self.scale)
        destination[prefix + "zero_point"] = torch.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        self.scale = float(state_dict.pop(prefix + "scale"))
        self.zero_point = int(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _panels(whole: Any) -> Any:
    """Return a matrix of integers as the product reads it: panels of its rows, in words of its columns."""
    rows, depth = whole.shape
    padded = torch.nn.functional.pad(whole, [0, -depth % WORD, 0, -rows % PANEL])
    return padded.view(-1, PANEL, padded.shape[1] // WORD, WORD).transpose(1, 2).contiguous()


adopt(globals())
