"""`python -m torch.distributed.launch`: `torchrun` as it was called before; workers also get `--local-rank`."""

from __future__ import annotations

import os
import warnings

from mindtorch._naming import adopt
from mindtorch.distributed.run import get_args_parser, run

__all__ = ["launch", "main", "parse_args"]


def parse_args(args: list[str] | None) -> object:
    """Read a command line."""
    parser = get_args_parser()
    parser.add_argument(
        "--use-env",
        "--use_env",
        default=False,
        action="store_true",
        help="Workers read LOCAL_RANK and get no argument `--local-rank`.",
    )
    return parser.parse_args(args)


def launch(args: object) -> None:
    """Do what a command line says."""
    if os.environ.get("TORCHELASTIC_NO_DEPRECATION") is None:
        warnings.warn(
            "The module torch.distributed.launch is deprecated\n"
            "and will be removed in future. Use torchrun.\n"
            "Note that --use-env is set by default in torchrun.\n"
            "If your script expects `--local-rank` argument to be set, please\n"
            "change it to read from `os.environ['LOCAL_RANK']` instead. See \n"
            "https://pytorch.org/docs/stable/distributed.html#launch-utility for \n"
            "further instructions\n",
            FutureWarning,
            stacklevel=3,
        )
    run(args)  # type: ignore[arg-type]


def main(args: list[str] | None = None) -> None:
    """The command."""
    launch(parse_args(args))


if __name__ == "__main__":
    main()
else:
    adopt(globals())
