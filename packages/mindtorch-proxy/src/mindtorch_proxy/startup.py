"""Importing this module turns the proxy on as the variable `MINDTORCH` says; unset means auto.

It is what the `.pth` file of `python -m mindtorch_proxy enable-site` imports when an interpreter starts.
"""

from mindtorch_proxy.environment import install_by_mode, mode_from_environment
from mindtorch_proxy.switch import is_installed

if not is_installed():
    install_by_mode(mode_from_environment(default="auto"))
