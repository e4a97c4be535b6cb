"""Exception types of torch that are not Python's own."""

from mindtorch._naming import torch_name


class AcceleratorError(RuntimeError):
    """An accelerator's runtime reported an error.

    >>> issubclass(torch.AcceleratorError, RuntimeError)
    True
    """


class OutOfMemoryError(RuntimeError):
    """A device has not enough memory.

    >>> issubclass(torch.OutOfMemoryError, RuntimeError)
    True
    """


# Known as `torch.OutOfMemoryError`; the module they are defined in has no torch name.
for _error in (AcceleratorError, OutOfMemoryError):
    _error.__module__ = torch_name("mindtorch")
