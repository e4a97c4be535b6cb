"""What the exporter raises and warns with."""

from mindtorch._naming import adopt

__all__ = ["OnnxExporterWarning", "UnsupportedOperatorError"]


class OnnxExporterWarning(UserWarning):
    """A warning of the exporter.

    >>> issubclass(torch.onnx.errors.OnnxExporterWarning, UserWarning)
    True
    """


class OnnxExporterError(RuntimeError):
    """An error of the exporter.

    >>> issubclass(torch.onnx.OnnxExporterError, RuntimeError)
    True
    """


class UnsupportedOperatorError(OnnxExporterError):
    """An operator that the format cannot express."""


adopt(globals())
OnnxExporterError.__module__ = "torch.onnx"
