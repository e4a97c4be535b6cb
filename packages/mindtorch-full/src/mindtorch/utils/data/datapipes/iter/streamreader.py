"""Where torch has `StreamReaderIterDataPipe`."""

from mindtorch._naming import adopt

from ._files import StreamReaderIterDataPipe

__all__ = ["StreamReaderIterDataPipe"]

adopt(globals())
