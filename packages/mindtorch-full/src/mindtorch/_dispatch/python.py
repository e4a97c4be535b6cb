"""`torch._dispatch.python`: the switch between a compiled dispatcher and Python. Here operators go through Python always."""

from mindtorch._C._dispatch import _DisablePythonDispatcher, _EnablePythonDispatcher
from mindtorch._naming import adopt

__all__ = ["enable_python_dispatcher", "no_python_dispatcher"]

enable_python_dispatcher = _EnablePythonDispatcher
no_python_dispatcher = _DisablePythonDispatcher

adopt(globals())
