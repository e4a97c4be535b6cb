"""Where torch has `FileListerIterDataPipe`."""

from mindtorch._naming import adopt

from ._files import FileListerIterDataPipe

__all__ = ["FileListerIterDataPipe"]

adopt(globals())
