"""Exceptions that kernels raise and users catch by torch's names."""

__all__ = ["LinAlgError"]


class LinAlgError(RuntimeError):
    """A matrix that cannot be factored or inverted: `torch.linalg.LinAlgError`."""


LinAlgError.__module__ = "torch._C"
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
