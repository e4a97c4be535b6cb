"""pytest plugin: `pytest --mindtorch[=1|0|auto]`, or the variable `MINDTORCH`, runs the tests on MindTorch.

The proxy is turned on before the first conftest is imported and off when pytest ends. Without option and variable the
plugin does nothing.
"""

import importlib.util
import os

import pytest

from mindtorch_proxy.environment import MODES, VARIABLE, install_by_mode, mode_from_environment
from mindtorch_proxy.names import OURS, TORCH_VERSION
from mindtorch_proxy.real_torch import find_real_torch
from mindtorch_proxy.switch import is_installed, uninstall

_asked = pytest.StashKey[str]()
_installed = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("mindtorch").addoption(
        "--mindtorch",
        nargs="?",
        const="1",
        choices=MODES,
        help="run the tests with `import torch` resolved to MindTorch: 1 (default), 0, or auto (when torch is absent)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Turn the proxy on before anything of the test suite is imported."""
    mode = early_config.known_args_namespace.mindtorch
    if mode is None:
        mode = _mode_of_environment()
    else:
        # xdist workers and processes that tests start follow the option.
        os.environ[VARIABLE] = mode
    if mode is None:
        return
    early_config.stash[_asked] = mode
    early_config.stash[_installed] = not is_installed() and install_by_mode(mode)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which torch the tests see, when the plugin was asked to care."""
    mode = config.stash.get(_asked, None)
    if mode is None:
        return None
    if is_installed():
        spec = importlib.util.find_spec(OURS)
        return f"mindtorch: import torch is MindTorch (torch {TORCH_VERSION}, {spec.origin if spec else 'not found'})"
    real = find_real_torch()
    return f"mindtorch: off ({mode}); import torch is {real.origin if real else 'not found'}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Turn off what this run turned on."""
    if config.stash.get(_installed, False):
        config.stash[_installed] = False
        uninstall()


def _mode_of_environment() -> str | None:
    return mode_from_environment(default="0") if os.environ.get(VARIABLE) else None
