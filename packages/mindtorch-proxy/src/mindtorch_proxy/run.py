"""Running a program as `python` would: the same `sys.argv`, `sys.path`, `__main__` and tracebacks.

`runpy` is close but not the same: it puts another `__main__` back when the program ends, while the program's threads
and exit handlers still run, and its frames show in every traceback. So the module is made here. A program that is run
this way ends the work of the process: `sys.argv`, `sys.path` and `__main__` stay as the program had them.
"""

import importlib.util
import linecache
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any


def run_path(path: str, arguments: Sequence[str] = ()) -> None:
    """Run the file, directory or zip archive ``path`` as `python path arguments...` does.

    Raises:
        SystemExit: with python's message and status 2 when there is no such file, and whatever the program raises.
    """
    sys.argv = [path, *arguments]
    if not os.path.isfile(path) or pkgutil.get_importer(os.path.abspath(path)) is not None:
        _run_container(path)
        return
    _set_first_path_entry(os.path.dirname(os.path.realpath(path)))
    absolute = os.path.abspath(path)
    loader_type = SourcelessFileLoader if path.endswith(".pyc") else SourceFileLoader
    loader = loader_type("__main__", absolute)
    _execute(lambda: _code_of_file(loader, absolute), None, absolute, loader)


def run_module(name: str, arguments: Sequence[str] = ()) -> None:
    """Run the module or package ``name`` as `python -m name arguments...` does.

    Raises:
        SystemExit: with python's message and status 1 when there is no such module, and whatever the program raises.
    """
    sys.argv = ["-m", *arguments]
    _set_first_path_entry(os.getcwd())
    spec = _module_spec(name)
    sys.argv[0] = spec.origin or name
    loader: Any = spec.loader
    _execute(lambda: loader.get_code(spec.name), spec, spec.origin, loader)


def run_code(code: str, arguments: Sequence[str] = ()) -> None:
    """Run the text ``code`` as `python -c code arguments...` does."""
    sys.argv = ["-c", *arguments]
    _set_first_path_entry("")
    _execute(lambda: _compiled(code), None, None, None)


def _compiled(text: str) -> Any:
    """Return the code of `python -c text`; from Python 3.13 on tracebacks show its lines."""
    code = compile(text, "<string>", "exec")
    register = getattr(linecache, "_register_code", None)
    if register is not None:
        register(code, text, "<string>")
        # The first releases of 3.13 look the lines up by the file's name.
        linecache.cache["<string>"] = (len(text), None, [line + "\n" for line in text.splitlines()], "<string>")
    return code


def _run_container(path: str) -> None:
    """Run the `__main__` of a directory or zip archive."""
    path = os.path.abspath(path)
    if pkgutil.get_importer(path) is None:
        _complain(f"can't open file {path!r}: [Errno 2] No such file or directory")
        raise SystemExit(2)
    if sys.flags.safe_path:
        sys.path.insert(0, path)
    else:
        _set_first_path_entry(path)
    spec = PathFinder.find_spec("__main__", [path])
    if spec is None or spec.loader is None:
        _complain(f"can't find '__main__' module in {path!r}")
        raise SystemExit(1)
    loader: Any = spec.loader
    _execute(lambda: loader.get_code("__main__"), spec, spec.origin, loader)


def _complain(text: str) -> None:
    sys.stderr.write(f"{sys.executable}: {text}\n")


def _module_spec(name: str) -> ModuleSpec:
    """Return the spec of what `python -m name` runs: the module, or the package's `__main__`."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise SystemExit(
            f"{sys.executable}: Error while finding module specification for {name!r} ({type(error).__name__}: {error})"
        ) from None
    if spec is None:
        raise SystemExit(f"{sys.executable}: No module named {name}")
    if spec.submodule_search_locations is not None and not name.endswith(".__main__"):
        spec = importlib.util.find_spec(f"{name}.__main__")
        if spec is None:
            raise SystemExit(
                f"{sys.executable}: No module named {name}.__main__; "
                f"{name!r} is a package and cannot be directly executed"
            )
    if not hasattr(spec.loader, "get_code"):
        raise SystemExit(f"{sys.executable}: No code object available for {name}")
    return spec


def _set_first_path_entry(entry: str) -> None:
    """Put ``entry`` where python puts the program's directory, in place of our own program's."""
    if sys.flags.safe_path:
        return
    if sys.path:
        sys.path[0] = entry
    else:
        sys.path.append(entry)


def _code_of_file(loader: SourceFileLoader | SourcelessFileLoader, path: str) -> CodeType:
    """Return the code of a program's file; source is compiled anew, as python does for the main program."""
    if isinstance(loader, SourcelessFileLoader):
        code = loader.get_code("__main__")
        if code is None:
            raise ImportError(f"no code in {path!r}")
        return code
    return compile(loader.get_data(path), path, "exec", dont_inherit=True)


def _execute(make_code: Any, spec: ModuleSpec | None, file: str | None, loader: Any) -> None:
    """Run the code in a fresh module `__main__`, which stays in place."""
    main = ModuleType("__main__")
    main.__spec__ = spec
    main.__loader__ = loader
    main.__package__ = spec.parent if spec is not None else None
    if file is not None:
        main.__file__ = file
        main.__dict__["__cached__"] = spec.cached if spec is not None else None
    main.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={})
    caller = sys.modules["__main__"]  # kept alive: its code has not ended
    sys.modules["__main__"] = main
    try:
        exec(make_code(), main.__dict__)
    except SystemExit:
        raise
    except BaseException:
        _hide_own_frames()
        raise
    finally:
        del caller


def _hide_own_frames() -> None:
    """Show an exception that ends the program without the frames that ran it, as python would."""
    hook = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        rest = _frames_of_program(traceback)
        hook(kind, error.with_traceback(rest), rest)

    sys.excepthook = show


def _frames_of_program(traceback: TracebackType | None) -> TracebackType | None:
    """Return the part of ``traceback`` after :func:`_execute`."""
    entry = traceback
    while entry is not None:
        if entry.tb_frame.f_code is _execute.__code__:
            entry = entry.tb_next
            while entry is not None and entry.tb_frame.f_code.co_filename == __file__:
                entry = entry.tb_next
            return entry
        entry = entry.tb_next
    return traceback
