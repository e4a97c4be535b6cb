"""Observers that look at nothing, and one that keeps all it sees."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.quantization._observer_base import _EPS, ObserverBase


def _refuse(name: str) -> NoReturn:
    raise Exception(f"calculate_qparams should not be called for {name}")


class FixedQParamsObserver(ObserverBase):
    """Scale and zero point that are known before.

    >>> import torch.ao.quantization as quantization
    >>> quantization.FixedQParamsObserver(scale=1 / 256, zero_point=0).calculate_qparams()
    (tensor([0.0039]), tensor([0], dtype=torch.int32))
    """

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: Any = torch.quint8,
        qscheme: Any = torch.per_tensor_affine,
        quant_min: int = 0,
        quant_max: int = 255,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min, self.quant_max = quant_min, quant_max
        self.register_buffer("scale", torch.tensor([scale], dtype=torch.float))
        self.register_buffer("zero_point", torch.tensor([zero_point], dtype=torch.int))
        self.qscheme = qscheme

    def forward(self, X: Tensor) -> Any:
        """Return `X`."""
        return X

    def calculate_qparams(self) -> tuple[Any, Any]:  # type: ignore[override]
        """Return scale and zero point."""
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """Tells a layer how its input will be quantized, when it comes.

    >>> import torch.ao.quantization as quantization
    >>> x = torch.tensor([-1.0, 0.0, 3.0])
    >>> quantization.PlaceholderObserver(dtype=torch.float16)(x)
    tensor([-1.,  0.,  3.])
    """

    def __init__(
        self,
        dtype: Any = torch.float32,
        custom_op_name: str = "",
        compute_dtype: Any = None,
        quant_min: int | None = None,
        quant_max: int | None = None,
        qscheme: Any = None,
        eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = torch.per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max = quant_min, quant_max
        self.eps = _EPS if eps is None else eps
        self.custom_op = custom_op_name
        if compute_dtype:
            warnings.warn(
                "Please use `is_dynamic` instead of `compute_dtype`.                     `compute_dtype` will be deprecated "
                "in a future release                     of PyTorch.",
                stacklevel=2,
            )

    def forward(self, x: Tensor) -> Any:
        """Return `x`."""
        return x

    def extra_repr(self) -> str:
        """The dtype, and whether inputs are quantized as they come."""
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self) -> NoReturn:  # type: ignore[override]
        """Raise: nothing was observed."""
        _refuse("PlaceholderObserver")


class RecordingObserver(ObserverBase):
    """Keeps a copy of everything that passes.

    >>> import torch.ao.quantization as quantization
    >>> x = torch.tensor([-1.0, 0.0, 3.0])
    >>> observer = quantization.RecordingObserver()
    >>> _ = observer(x)
    >>> observer.get_tensor_value()
    [tensor([-1.,  0.,  3.])]
    """

    def __init__(self, dtype: Any = torch.quint8) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val: list[Any] = []

    def forward(self, x: Tensor) -> Any:
        """Keep a copy of `x`, and return it."""
        self.tensor_val.append(x.clone())
        return x

    def calculate_qparams(self) -> NoReturn:  # type: ignore[override]
        """Raise: no range was observed."""
        _refuse("RecordingObserver")

    def get_tensor_value(self) -> list[Any]:
        """Return what was kept."""
        return self.tensor_val


class NoopObserver(ObserverBase):
    """Tells a layer the dtype of its weight.

    >>> import torch.ao.quantization as quantization
    >>> x = torch.tensor([-1.0, 0.0, 3.0])
    >>> quantization.NoopObserver(dtype=torch.float16)(x)
    tensor([-1.,  0.,  3.])
    """

    def __init__(self, dtype: Any = torch.float16, custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Any:
        """Return `x`."""
        return x

    def calculate_qparams(self) -> NoReturn:  # type: ignore[override]
        """Raise: nothing was observed."""
        _refuse("NoopObserver")


class ReuseInputObserver(ObserverBase):
    """Says that a result is quantized as the input was.

    >>> import torch.ao.quantization as quantization
    >>> x = torch.tensor([-1.0, 0.0, 3.0])
    >>> quantization.ReuseInputObserver()(x)
    tensor([-1.,  0.,  3.])
    """

    def __init__(self) -> None:
        super().__init__(torch.quint8, is_dynamic=False)

    def forward(self, x: Tensor) -> Any:
        """Return `x`."""
        return x

    def calculate_qparams(self) -> NoReturn:  # type: ignore[override]
        """Raise: nothing was observed."""
        _refuse("ReuseInputObserver")


adopt(globals(), "torch.ao.quantization.observer")
