"""IPython and Jupyter: `%load_ext mindtorch_proxy` turns the proxy on, `%unload_ext mindtorch_proxy` off.

`%mindtorch on|off|status` does the same later; `on --replace` sets a real torch aside that is imported already.
"""

from typing import Any

from mindtorch_proxy.names import TORCH_VERSION
from mindtorch_proxy.real_torch import imported_real_torch
from mindtorch_proxy.switch import install, is_installed, uninstall

_loaded = False


def load_ipython_extension(shell: Any) -> None:
    """Turn the proxy on, if it is not on already, and define the magic `%mindtorch`."""
    global _loaded
    shell.register_magic_function(magic, "line", "mindtorch")
    if not is_installed():
        install()
        _loaded = True


def unload_ipython_extension(shell: Any) -> None:
    """Turn off what the extension turned on."""
    _turn_off()


def magic(line: str) -> str:
    """Do what the line says and return the state afterwards.

    Raises:
        ValueError: the line is none of on, on --replace, off, status.
        RealTorchImportedError: `on` with a real torch imported already.
    """
    global _loaded
    match line.split():
        case ["on", *rest] if rest in ([], ["--replace"]):
            if not is_installed():
                install(replace=bool(rest))
                _loaded = True
        case ["off"]:
            _turn_off()
        case [] | ["status"]:
            pass
        case _:
            raise ValueError(f"%mindtorch takes on, on --replace, off or status, got {line!r}")
    return state()


def state() -> str:
    """Return a line that says which torch `import torch` gives."""
    if is_installed():
        return f"import torch is MindTorch (torch {TORCH_VERSION})"
    real = imported_real_torch()
    where = f", the real one imported from {getattr(real, '__file__', None)}" if real is not None else ""
    return f"the proxy is off{where}"


def _turn_off() -> None:
    global _loaded
    if _loaded:
        _loaded = False
        uninstall()
