"""Options of a command line whose defaults come from variables `PET_<OPTION>` of the environment."""

import os
from argparse import Action, ArgumentParser, Namespace
from typing import Any

from mindtorch._naming import adopt

__all__ = ["check_env", "env"]


class env(Action):
    """An option with a value; `PET_<DEST>` replaces its default.

    >>> import argparse, os
    >>> from torch.distributed.argparse_util import env
    >>> os.environ["PET_NNODES"] = "3"
    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--nnodes", action=env, type=int, default=1)
    >>> parser.parse_args([]).nnodes
    3
    >>> del os.environ["PET_NNODES"]
    """

    def __init__(self, dest: str, default: Any = None, required: bool = False, **kwargs: Any) -> None:
        default = os.environ.get(f"PET_{dest.upper()}", default)
        super().__init__(dest=dest, default=default, required=required and not default, **kwargs)

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        setattr(namespace, self.dest, values)


class check_env(Action):
    """A switch; a number other than zero in `PET_<DEST>` turns it on.

    >>> import argparse, os
    >>> from torch.distributed.argparse_util import check_env
    >>> os.environ["PET_VERBOSE"] = "1"
    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--verbose", action=check_env)
    >>> parser.parse_args([]).verbose
    True
    >>> del os.environ["PET_VERBOSE"]
    """

    def __init__(self, dest: str, default: bool = False, **kwargs: Any) -> None:
        given = bool(int(os.environ.get(f"PET_{dest.upper()}", int(default))))
        super().__init__(dest=dest, const=True, default=given, nargs=0, **kwargs)

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        setattr(namespace, self.dest, self.const)


adopt(globals())
