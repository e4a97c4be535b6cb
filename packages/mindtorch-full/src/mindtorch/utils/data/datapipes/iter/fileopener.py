"""Where torch has `FileOpenerIterDataPipe`."""

from mindtorch._naming import adopt

from ._files import FileOpenerIterDataPipe

__all__ = ["FileOpenerIterDataPipe"]

adopt(globals())
