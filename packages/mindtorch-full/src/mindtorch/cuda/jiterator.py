"""`torch.cuda.jiterator`: elementwise kernels from texts of CUDA. Making one checks nothing; calling it needs a device."""

from __future__ import annotations

from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__: list[str] = []


class _JittedFunction:
    """A kernel of the text ``code_string``, with defaults of further arguments."""

    def __init__(self, code_string: str, return_by_ref: bool, num_outputs: int, **kwargs: Any) -> None:
        self.code_string = code_string
        self.return_by_ref = return_by_ref
        self.num_outputs = num_outputs
        self.kwargs_dict = kwargs
        self.is_cuda_available = False

    def __call__(self, *tensors: Any, **kwargs: Any) -> NoReturn:
        """Run the kernel; there is no device for it."""
        raise AssertionError("Jiterator is only supported on CUDA and ROCm GPUs, none are available.")


def _create_jit_fn(code_string: str, **kwargs: Any) -> _JittedFunction:
    """Return the kernel of a text, with one output."""
    return _JittedFunction(code_string, return_by_ref=False, num_outputs=1, **kwargs)


def _create_multi_output_jit_fn(code_string: str, num_outputs: int, **kwargs: Any) -> _JittedFunction:
    """Return the kernel of a text, with several outputs."""
    return _JittedFunction(code_string, return_by_ref=True, num_outputs=num_outputs, **kwargs)


adopt(globals())
