"""The command `mindtorch`, also `python -m mindtorch`: run a program on MindTorch, or say what it needs or has.

    mindtorch [run] PROGRAM.py [ARGUMENT...]     as `python PROGRAM.py ...`, with `import torch` resolved to MindTorch
    mindtorch [run] -m MODULE [ARGUMENT...]      as `python -m MODULE ...`
    mindtorch [run] -c CODE [ARGUMENT...]        as `python -c CODE ...`
    mindtorch env [--json]                       versions, devices, and which torch a program would get
    mindtorch doctor PATH|PACKAGE...             names of torch that programs use, which are missing, and where
    mindtorch view TRACE [-o PAGE]               a trace of the profiler as one page, which needs no network
    mindtorch --version

Python processes that the program starts run on MindTorch too. MINDTORCH=0 runs on the real torch instead,
MINDTORCH=auto on the real torch where there is one. A file called `run`, `env`, `doctor` or `view` is meant
by `./run`.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import mindtorch_proxy
from mindtorch import _trace_page
from mindtorch.__about__ import __version__
from mindtorch._environment import environment_report, report_lines
from mindtorch_proxy.environment import hand_on, mode_from_environment
from mindtorch_storage.lazy_import import LazyModule

_doctor_module = LazyModule("mindtorch._doctor", "programs that run need no report")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: the program's, 0, or 2 for a wrong command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    match given:
        case ["-h" | "--help", *_] | ["run" | "env" | "doctor" | "view", "-h" | "--help", *_]:
            print(__doc__)
            return 0
        case ["--version" | "-V"]:
            print(f"mindtorch {__version__} (torch {mindtorch_proxy.TORCH_VERSION})")
            return 0
        case ["env"]:
            print("\n".join(report_lines(environment_report())))
            return 0
        case ["env", "--json"]:
            print(json.dumps(environment_report(), indent=2))
            return 0
        case ["env", *_]:
            return _wrong("env takes --json only")
        case ["doctor", *paths]:
            return _doctor(paths)
        case ["view", source]:
            return _view(Path(source), Path(source).with_suffix(".html"))
        case ["view", source, "-o", target]:
            return _view(Path(source), Path(target))
        case ["view", *_]:
            return _wrong("view needs a trace, and takes -o PAGE")
        case ["run", *rest]:
            return _run(rest)
        case _:
            return _run(given)


def torchrun() -> int:
    """The command `torchrun`: on MindTorch, and on the real torch where that is installed too, whose command it then is."""
    os.environ.setdefault("MINDTORCH", "auto")
    return _run(["-m", "torch.distributed.run", *sys.argv[1:]])


def _doctor(paths: list[str]) -> int:
    """Print what the programs use; 1 when something is missing or cannot be read."""
    if not paths:
        return _wrong("doctor needs a file or a folder")
    try:
        uses, problems = _doctor_module.examine(_doctor_module.find(paths))
    except FileNotFoundError as error:
        return _wrong(str(error))
    print("\n".join(_doctor_module.report(uses, problems)))
    return 1 if problems or any(use.missing for use in uses) else 0


def _view(source: Path, target: Path) -> int:
    """Write the page of a trace and say so; 1 when the file is none."""
    try:
        calls = _trace_page.write(source, target)
    except (OSError, _trace_page.NoTraceError) as error:
        print(f"mindtorch: {error}", file=sys.stderr)
        return 1
    print(f"{target}: {calls:,} calls")
    return 0


def _run(program: list[str]) -> int:
    """Run the program in this process; it ends with whatever the program ends with."""
    match program:
        case []:
            return _wrong("a program is missing")
        case ["-m" | "-c"]:
            return _wrong(f"{program[0]} needs an argument")
        case [option, *_] if option.startswith("-") and option not in ("-m", "-c"):
            return _wrong(f"unknown option {option}")
    try:
        if mindtorch_proxy.is_installed() or mindtorch_proxy.install_by_mode(mode_from_environment(default="1")):
            hand_on(os.environ)
    except (ValueError, mindtorch_proxy.RealTorchImportedError) as error:
        return _wrong(str(error))
    try:
        _start(program)
    except (ImportError, AttributeError, NotImplementedError) as error:
        _say_what_was_missing(error)
        raise
    return 0


def _start(program: list[str]) -> None:
    match program:
        case ["-m", name, *rest]:
            mindtorch_proxy.run_module(name, rest)
        case ["-c", code, *rest]:
            mindtorch_proxy.run_code(code, rest)
        case [path, *rest]:
            mindtorch_proxy.run_path(path, rest)


def _say_what_was_missing(error: BaseException) -> None:
    """Where a program ends because a name of torch is missing, have the traceback followed by a line that says so."""
    line = _doctor_module.what_was_missing(error) if mindtorch_proxy.is_installed() else None
    hook = sys.excepthook

    def show(kind: type[BaseException], shown: BaseException, traceback: TracebackType | None) -> None:
        hook(kind, shown, traceback)
        print(f"mindtorch: {line}; `mindtorch doctor` lists every such name of a program", file=sys.stderr)

    if line is not None:
        sys.excepthook = show


def _wrong(text: str) -> int:
    print(f"mindtorch: {text}; see `mindtorch --help`", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
