"""An observer that counts values by their size, and leaves out what is rare where that makes the error smaller."""

from __future__ import annotations

import warnings
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.quantization._observer_base import _EPS
from mindtorch.ao.quantization._ranges import RangeObserver, _in_place
from mindtorch.ao.quantization.utils import is_per_tensor

_STEP = 1e-5  # so much of all counts is left out at a time
_FINER = 16


class HistogramObserver(RangeObserver):
    """Counts of values in bins between the least and the greatest; the scale is that of the least square error.

    >>> import torch.ao.quantization as quantization
    >>> x = torch.tensor([-1.0, 0.0, 3.0])
    >>> observer = quantization.HistogramObserver()
    >>> _ = observer(x)
    >>> observer.calculate_qparams()
    (tensor([0.0157]), tensor([64], dtype=torch.int32))
    """

    histogram: Any

    def __init__(
        self,
        bins: int = 2048,
        dtype: Any = torch.quint8,
        qscheme: Any = torch.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: Any = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "HistogramObserver's qscheme only support torch.per_tensor_symmetric                     "
                "and torch.per_tensor_affine."
            )
        if is_dynamic:
            raise NotImplementedError("HistogramObserver doesn't support dynamic quantization")
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        factory_kwargs = torch.nn.factory_kwargs(factory_kwargs)
        self.bins = bins
        self.register_buffer("histogram", torch.zeros(self.bins, **factory_kwargs))
        self.register_buffer("min_val", torch.tensor(float("inf"), **factory_kwargs))
        self.register_buffer("max_val", torch.tensor(float("-inf"), **factory_kwargs))
        self.dst_nbins = 2 ** torch.iinfo(self.dtype).bits
        self.upsample_rate = _FINER

    def _get_norm(self, delta_begin: Any, delta_end: Any, density: Any) -> Any:
        """Return the square error of values that lie evenly between two distances from a level."""
        cubes = delta_end * delta_end * delta_end - delta_begin * delta_begin * delta_begin
        return density * (cubes / 3)

    def _compute_quantization_error(self, next_start_bin: int, next_end_bin: int) -> Any:
        """Return the square error where the bins from one to another are what is kept."""
        width = (self.max_val.item() - self.min_val.item()) / self.bins
        step = width * (next_end_bin - next_start_bin + 1) / self.dst_nbins
        if step == 0.0:
            return 0.0
        device, last = self.histogram.device, self.dst_nbins - 1
        begin = (torch.arange(self.bins, device=device) - next_start_bin) * width
        end = begin + width
        of_begin = torch.clamp(torch.div(begin, step, rounding_mode="floor"), 0, last)
        of_end = torch.clamp(torch.div(end, step, rounding_mode="floor"), 0, last)
        density = self.histogram / width
        half = torch.ones(self.bins, device=device) * (step / 2)
        norm = torch.zeros(self.bins, device=device)
        norm += self._get_norm(begin - (of_begin + 0.5) * step, half, density)
        norm += (of_end - of_begin - 1) * self._get_norm(torch.tensor(-step / 2), torch.tensor(step / 2), density)
        norm += self._get_norm(torch.tensor(-step / 2), end - (of_end * step + step / 2), density)
        return norm.sum().item()

    def _non_linear_param_search(self) -> tuple[Any, Any]:
        """Return the range that is kept: bins at the ends go as long as the error falls."""
        if self.histogram.size()[0] != self.bins:
            raise AssertionError("bins mismatch")
        width = (self.max_val - self.min_val) / self.bins
        total = torch.sum(self.histogram).item()
        # Compared in float32, as torch compares an element of the sums with a number.
        sums = torch.cumsum(self.histogram, dim=0)
        lower, upper, start, end = 0.0, 1.0, 0, self.bins - 1
        least = float("inf")
        while lower < upper:
            next_lower, next_upper = lower + _STEP, upper - _STEP
            left, right = self._passed(sums, start, end, next_lower * total, next_upper * total)
            next_start, next_end = start, end
            if left - start > end - right:
                next_start, lower = left, next_lower
            else:
                next_end, upper = right, next_upper
            if (next_start, next_end) == (start, end):
                continue
            error = self._compute_quantization_error(next_start, next_end)
            if error > least:
                break
            least, start, end = error, next_start, next_end
        return self.min_val + width * start, self.min_val + width * (end + 1)

    @staticmethod
    def _passed(sums: Any, start: int, end: int, below: float, above: float) -> tuple[int, int]:
        """Return the first bin from the left that has so much below it, and the first from the right that has not."""
        found = torch.nonzero(~(sums[start:end] < below))
        left = start + int(found[0]) if found.numel() else end
        found = torch.nonzero(~(sums[start + 1 : end + 1] > above))
        right = start + 1 + int(found[-1]) if found.numel() else start
        return left, right

    def _upscale_histogram(self, histogram: Any, orig_min: Any, orig_max: Any, update_min: Any, update_max: Any) -> Any:
        """Return the counts in bins of a wider range; each bin is cut into finer ones first."""
        finer = self.bins * self.upsample_rate
        histogram = histogram.repeat_interleave(self.upsample_rate) / self.upsample_rate
        size = (orig_max - orig_min) / finer
        edges = torch.linspace(orig_min, orig_max, finer + 1, device=orig_min.device)[:-1]
        middles = edges.to(histogram.device) + 0.5 * size
        bounds = torch.linspace(update_min, update_max, self.bins + 1, device=update_min.device).to(histogram.device)
        places = torch.bucketize(middles, bounds, right=True) - 1
        places[places >= self.bins] = self.bins - 1
        places[places < 0] = 0
        return torch.bincount(places, weights=histogram, minlength=self.bins)

    def _combine_histograms(
        self, orig_hist: Any, orig_min: Any, orig_max: Any, update_hist: Any, update_min: Any, update_max: Any
    ) -> Any:
        """Return the sum of counts in bins of two ranges, of which the second one holds the first."""
        if update_min == orig_min and update_max == orig_max:
            return orig_hist + update_hist
        if orig_min == orig_max:
            single = torch.histc(orig_min, bins=self.bins, min=update_min, max=update_max)
            return single * torch.sum(orig_hist) + update_hist
        if update_min > orig_min:
            raise AssertionError("update_min must be <= orig_min")
        if update_max < orig_max:
            raise AssertionError("update_max must be >= orig_max")
        return update_hist + self._upscale_histogram(orig_hist, orig_min, orig_max, update_min, update_max)

    def reset_histogram(self, x: Tensor, min_val: Any, max_val: Any) -> None:
        """Begin with the counts of `x`."""
        _in_place(self.min_val, min_val)
        _in_place(self.max_val, max_val)
        if min_val.numel() != 1 or max_val.numel() != 1:
            raise AssertionError("histogram min/max values must be scalar.")
        _in_place(self.histogram.detach_(), torch.histc(x, self.bins, min=min_val, max=max_val))

    def forward(self, x_orig: Tensor) -> Any:
        """Count the values of `x_orig`, and return it."""
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach()
        low, high = torch.aminmax(x)
        if low == -torch.inf or high == torch.inf:
            warnings.warn("torch.inf detected in input tensor, ignoring input", stacklevel=2)
            x = x[x.abs() != torch.inf]
            if x.numel() == 0:
                return x_orig
            low, high = torch.aminmax(x)
        if self.min_val == float("inf") or self.max_val == float("-inf"):
            self.reset_histogram(x, low, high)
            return x_orig
        current_min, current_max = self.min_val, self.max_val
        new_min: Any = torch.min(current_min, low).detach()  # tensors of one element are numbers to `histc`
        new_max: Any = torch.max(current_max, high).detach()
        counts = torch.histc(x, self.bins, min=new_min, max=new_max).to(self.histogram.device)
        if new_min == current_min and new_max == current_max:
            _in_place(self.histogram.detach_(), self.histogram + counts)
            return x_orig
        combined = self._combine_histograms(self.histogram, current_min, current_max, counts, new_min, new_max)
        _in_place(self.histogram.detach_(), combined)
        _in_place(self.min_val.detach_(), new_min)
        _in_place(self.max_val.detach_(), new_max)
        return x_orig

    def calculate_qparams(self) -> tuple[Any, Any]:  # type: ignore[override]
        """Return scale and zero point of the range whose error is least."""
        if self.min_val == float("inf") and self.max_val == float("-inf"):
            warnings.warn(
                "must run observer before calling calculate_qparams.                                    "
                "Returning default scale and zero point ",
                stacklevel=2,
            )
            device = self.min_val.device.type
            return torch.tensor([1.0], device=device), torch.tensor([0], device=device)
        if self.bins != len(self.histogram):
            raise AssertionError(
                "The number of bins in histogram should be equal to the number of bins "
                "supplied while making this observer"
            )
        return self._calculate_qparams(*self._non_linear_param_search())

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "min_val"] = self.min_val
        destination[prefix + "max_val"] = self.max_val

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, *rest: Any
    ) -> None:
        version = local_metadata.get("version")
        for name, unset in (("min_val", float("inf")), ("max_val", float("-inf"))):
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            if (version is None or version < 3) and state_dict[key].shape == torch.Size([0]):
                state_dict[key] = torch.tensor(unset)
            setattr(self, name, state_dict[key])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, *rest)


adopt(globals(), "torch.ao.quantization.observer")
