"""Random state of CUDA devices: seeds are accepted for devices that never come, states are not to be had."""

from mindtorch._absent import own_copies
from mindtorch._absent.random import *  # noqa: F403 - the names of its __all__
from mindtorch._absent.random import __all__ as __all__
from mindtorch._naming import adopt
from mindtorch.cuda import _lazy  # noqa: F401 - what the functions ask

own_copies(globals(), "cuda")
adopt(globals())
