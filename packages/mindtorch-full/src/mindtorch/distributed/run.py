"""`torchrun`, also `python -m torch.distributed.run`: run a program in several processes, here or on several nodes.

    torchrun --nproc-per-node 4 train.py --epochs 3
    torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29400 --rdzv-id NAME train.py
    torchrun --nnodes 2 --node-rank 0 --master-addr HOST --master-port 29500 train.py

The workers find their places in RANK, LOCAL_RANK, WORLD_SIZE and others, and the address of the first in MASTER_ADDR and
MASTER_PORT. When a worker fails all are ended, and started again as long as --max-restarts allows.
"""

from __future__ import annotations

import os
import runpy
import sys
import uuid
from argparse import REMAINDER, ArgumentParser, Namespace
from importlib import metadata
from pathlib import Path
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.argparse_util import check_env, env
from mindtorch.distributed.elastic.multiprocessing import DefaultLogsSpecs, LogsSpecs, Std
from mindtorch.distributed.elastic.multiprocessing.errors import record
from mindtorch.distributed.elastic.rendezvous.utils import _parse_rendezvous_config
from mindtorch.distributed.elastic.utils import macros
from mindtorch.distributed.elastic.utils.logging import get_logger
from mindtorch.distributed.launcher.api import LaunchConfig, elastic_launch

__all__ = ["config_from_args", "get_args_parser", "main", "parse_args", "run"]

_logger = get_logger("torch.distributed.run")
_OPTIONS: tuple[tuple[str, Any, Any, str], ...] = (
    ("nnodes", str, "1:1", "Number of nodes, or <least>:<most>."),
    (
        "nproc-per-node",
        str,
        "1",
        "Number of workers on each node: auto, cpu, gpu, xpu, the name of a device, or a number.",
    ),
    ("rdzv-backend", str, "static", "How nodes meet: static or c10d."),
    ("rdzv-endpoint", str, "", "Where nodes meet: <host>:<port>."),
    ("rdzv-id", str, "none", "Name of the run."),
    ("rdzv-conf", str, "", "More about how nodes meet (<key1>=<value1>,<key2>=<value2>,...)."),
    ("max-restarts", int, 0, "How often the workers are started again before the run fails."),
    ("monitor-interval", float, 0.1, "Seconds between looks at the workers."),
    ("event-log-handler", str, "null", "Where events are recorded; only null is offered."),
    ("role", str, "default", "Role of the workers."),
    ("log-dir", str, None, "Folder of log files; each run makes a folder in it."),
    ("local-ranks-filter", str, "", "Show only these local ranks' output (e.g. 0,1,2)."),
    ("node-rank", int, 0, "Rank of this node, with --rdzv-backend static."),
    ("master-addr", str, "127.0.0.1", "Address of the first node, with --rdzv-backend static."),
    ("master-port", int, None, "Port on the first node, with --rdzv-backend static."),
    ("local-addr", str, None, "Address of this node."),
    ("signals-to-handle", str, "SIGTERM,SIGINT,SIGHUP,SIGQUIT", "Signals that end the workers too."),
    ("shutdown-timeout", int, None, "Seconds that workers are given to end before they are killed."),
)
_SWITCHES = (
    ("standalone", "One node, at a free port."),
    ("no-python", "The script is a program of its own, not one of Python's."),
    ("run-path", "Run the script in this interpreter's workers with runpy.run_path."),
    ("virtual-local-rank", "LOCAL_RANK is 0 for every worker."),
)
_FILTERS = ("duplicate-stdout-filters", "duplicate-stderr-filters")
_OMP_WARNING = (
    "\n*****************************************\n"
    "Setting OMP_NUM_THREADS environment variable for each process to be "
    "%s in default, to avoid your system being overloaded, "
    "please further tune the variable for optimal performance in "
    "your application as needed. \n"
    "*****************************************"
)


def _names(option: str) -> list[str]:
    """Both spellings of an option."""
    return list(dict.fromkeys((f"--{option}", f"--{option.replace('-', '_')}")))


def _filter_list(value: str) -> list[str]:
    """Read a list with commas between its items, and two commas for one within an item."""
    return [item.replace("\0", ",") for item in value.replace(",,", "\0").split(",")]


def get_args_parser() -> ArgumentParser:
    """Return the parser of the command line."""
    # The command `torchrun` runs this module, whose name is not what its user typed.
    typed = "torchrun" if "torchrun" in (Path(one).name for one in sys.orig_argv[:2]) else None
    parser = ArgumentParser(prog=typed, description="Torch Distributed Elastic Training Launcher")
    for option, kind, default, text in _OPTIONS:
        parser.add_argument(*_names(option), action=env, type=kind, default=default, help=text)
    for option, text in _SWITCHES:
        parser.add_argument(*_names(option), action=check_env, help=text)
    for option in _FILTERS:
        parser.add_argument(
            *_names(option), action=env, type=_filter_list, default=[], help="Copy lines with one of these into a file."
        )
    methods = ["spawn", "fork", "forkserver"]
    parser.add_argument(
        *_names("start-method"),
        action=env,
        type=str,
        default="spawn",
        choices=methods,
        help="How functions are started.",
    )
    parser.add_argument("-m", "--module", action=check_env, help="The script is a module, as for `python -m`.")
    streams = "1 is stdout, 2 stderr, 3 both; 0:1,1:2 chooses by local rank."
    parser.add_argument(
        "-r", "--redirects", action=env, type=str, default="0", help=f"Write output to files only: {streams}"
    )
    parser.add_argument("-t", "--tee", action=env, type=str, default="0", help=f"Write output to files too: {streams}")
    parser.add_argument(*_names("logs-specs"), default=None, type=str, help="Entry point that says where logs go.")
    parser.add_argument(*_names("numa-binding"), default=None, type=str, help="Not offered.")
    parser.add_argument("training_script", type=str, help="The program of each worker.")
    parser.add_argument("training_script_args", nargs=REMAINDER, help="Its arguments.")
    return parser


def parse_args(args: list[str] | None) -> Namespace:
    """Read a command line."""
    return get_args_parser().parse_args(args)


def parse_min_max_nnodes(nnodes: str) -> tuple[int, int]:
    """Read `N` or `MIN:MAX`."""
    parts = nnodes.split(":")
    if len(parts) not in (1, 2):
        raise RuntimeError(f'nnodes={nnodes} is not in "MIN:MAX" format')
    return int(parts[0]), int(parts[-1])


def determine_local_world_size(nproc_per_node: str) -> int:
    """Return the number of workers: given, or that of devices of a type."""
    try:
        return int(nproc_per_node)
    except ValueError as error:
        kind = nproc_per_node
        if kind == "auto":
            accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
            kind = "cpu" if accelerator is None else accelerator.type
        if kind == "cpu":
            return os.cpu_count() or 1
        module = {"gpu": ("Cuda", torch.cuda), "xpu": ("Xpu", torch.xpu), "npu": ("npu", torch.npu)}.get(kind)
        if module is None:
            raise ValueError(f"Unsupported nproc_per_node value: {nproc_per_node}") from error
        if not module[1].is_available():
            raise ValueError(f"{module[0]} is not available.") from error
        return int(module[1].device_count())


def get_rdzv_endpoint(args: Namespace) -> str:
    """Return where nodes meet."""
    if args.rdzv_backend == "static" and not args.rdzv_endpoint:
        return f"{args.master_addr}:{args.master_port}"
    return str(args.rdzv_endpoint)


def get_use_env(args: Namespace) -> bool:
    """Return whether workers read LOCAL_RANK; only `torch.distributed.launch` also gives an argument."""
    return getattr(args, "use_env", True)


def _get_logs_specs_class(logs_specs_name: str | None) -> type[LogsSpecs]:
    if logs_specs_name is None:
        return DefaultLogsSpecs
    found = metadata.entry_points(group="torchrun.logs_specs").select(name=logs_specs_name)
    if not found:
        raise ValueError(f"Could not find entrypoint under 'torchrun.logs_specs[{logs_specs_name}]' key")
    specs: type[LogsSpecs] = found[logs_specs_name].load()
    return specs


def _local_ranks(text: str) -> set[int] | None:
    if not text:
        return None
    try:
        return set(map(int, text.split(",")))
    except ValueError as error:
        raise ValueError(
            "--local_ranks_filter must be a comma-separated list of integers e.g. --local_ranks_filter=0,1,2"
        ) from error


def _command(args: Namespace) -> tuple[Any, list[str]]:
    """Return the workers' entry point and its arguments."""
    if args.run_path:
        return run_script_path, [args.training_script, *args.training_script_args]
    given: list[str] = [] if get_use_env(args) else [f"--local-rank={macros.local_rank}"]
    given += args.training_script_args
    if args.no_python:
        if args.module:
            raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
        return args.training_script, given
    flags = ["-u", "-m"] if args.module else ["-u"]
    return os.getenv("PYTHON_EXEC", sys.executable), [*flags, args.training_script, *given]


def config_from_args(args: Namespace) -> tuple[LaunchConfig, Any, list[str]]:
    """Return the configuration, the workers' entry point, and its arguments."""
    min_nodes, max_nodes = parse_min_max_nnodes(args.nnodes)
    if not 0 < min_nodes <= max_nodes:
        raise AssertionError(
            f"min_nodes must be > 0 and <= max_nodes, got min_nodes={min_nodes}, max_nodes={max_nodes}"
        )
    if args.max_restarts < 0:
        raise AssertionError("max_restarts must be >= 0")
    nproc_per_node = determine_local_world_size(args.nproc_per_node)
    if "OMP_NUM_THREADS" not in os.environ and nproc_per_node > 1:
        _logger.warning(_OMP_WARNING, 1)
        os.environ["OMP_NUM_THREADS"] = "1"
    rdzv_configs: dict[str, Any] = dict(_parse_rendezvous_config(args.rdzv_conf))
    if args.rdzv_backend == "static":
        rdzv_configs["rank"] = args.node_rank
    logs_specs = _get_logs_specs_class(args.logs_specs)(
        log_dir=args.log_dir,
        redirects=Std.from_str(args.redirects),
        tee=Std.from_str(args.tee),
        local_ranks_filter=_local_ranks(args.local_ranks_filter),
    )
    entrypoint, arguments = _command(args)
    config = LaunchConfig(
        min_nodes=min_nodes,
        max_nodes=max_nodes,
        nproc_per_node=nproc_per_node,
        run_id=args.rdzv_id,
        role=args.role,
        rdzv_endpoint=get_rdzv_endpoint(args),
        rdzv_backend=args.rdzv_backend,
        rdzv_configs=rdzv_configs,
        max_restarts=args.max_restarts,
        monitor_interval=args.monitor_interval,
        start_method=args.start_method,
        log_line_prefix_template=os.getenv("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"),
        local_addr=args.local_addr,
        logs_specs=logs_specs,
        event_log_handler=args.event_log_handler,
        numa_options=args.numa_binding,
        signals_to_handle=args.signals_to_handle,
        duplicate_stdout_filters=args.duplicate_stdout_filters,
        duplicate_stderr_filters=args.duplicate_stderr_filters,
        virtual_local_rank=args.virtual_local_rank,
        shutdown_timeout=args.shutdown_timeout,
    )
    return config, entrypoint, arguments


def run_script_path(training_script: str, *training_script_args: str) -> None:
    """Run a script in this interpreter."""
    sys.argv = [training_script, *training_script_args]
    runpy.run_path(training_script, run_name="__main__")


def run(args: Namespace) -> None:
    """Do what a command line says."""
    one_node = args.rdzv_backend == "static" and not args.rdzv_endpoint and args.master_port is None
    if args.standalone or (one_node and parse_min_max_nnodes(args.nnodes)[1] == 1):
        args.rdzv_backend, args.rdzv_endpoint, args.rdzv_id = "c10d", "localhost:0", str(uuid.uuid4())
    if args.master_port is None:
        args.master_port = 29500
    config, entrypoint, arguments = config_from_args(args)
    elastic_launch(config=config, entrypoint=entrypoint)(*arguments)


@record
def main(args: list[str] | None = None) -> None:
    """The command `torchrun`."""
    run(parse_args(args))


if __name__ == "__main__":
    main()
else:  # as the program its names stay where they are
    adopt(globals())
