"""The process on each node that looks after the workers there."""

from mindtorch._naming import adopt

adopt(globals())
