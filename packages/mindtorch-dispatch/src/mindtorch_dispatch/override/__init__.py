"""Calls that others handle: `__torch_function__` above the call path, `__torch_dispatch__` inside it."""
