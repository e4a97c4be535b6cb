"""Models from a directory, and checkpoints by URL."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._progress import tqdm

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

MODULE_HUBCONF = "hubconf.py"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_CHUNK = 128 * 1024
_chosen: dict[str, str] = {}


def _get_torch_home() -> str:
    """``TORCH_HOME``, or a folder in the user's cache; torchvision and others keep their files there, too."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """Where downloads are kept: as set, or in torch's home.

    >>> torch.hub.set_dir("models")
    >>> torch.hub.get_dir()
    'models'
    """
    return _chosen["dir"] if "dir" in _chosen else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose where downloads are kept.

    >>> torch.hub.set_dir("models")
    >>> torch.hub.get_dir()
    'models'
    """
    _chosen["dir"] = os.path.expanduser(d)


@contextmanager
def _importable(directory: str) -> Iterator[None]:
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        sys.path.remove(directory)


def _hubconf(repo_or_dir: Any, source: str) -> tuple[ModuleType, str]:
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError(
            "torch.hub: MindTorch does not download repositories; clone it and pass its directory with source='local'"
        )
    path = os.path.join(repo_or_dir, MODULE_HUBCONF)
    with _importable(repo_or_dir):
        spec = importlib.util.spec_from_file_location(MODULE_HUBCONF, path)
        if spec is None or spec.loader is None:
            raise FileNotFoundError(f"no {MODULE_HUBCONF} in {repo_or_dir}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    missing = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module, str(repo_or_dir)


def _entry(module: ModuleType, name: str) -> Any:
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    function = getattr(module, name, None)
    if function is None or not callable(function):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return function


def list(
    github: Any,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
) -> Any:
    """The names of the models of a directory.

    >>> torch.hub.list("no/such", source="nowhere")
    Traceback (most recent call last):
        ...
    TypeError: list() got an unexpected keyword argument 'source'
    """
    module, _ = _hubconf(github, "local" if os.path.isdir(github) else "github")
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(
    github: Any, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = "check"
) -> str | None:
    """The documentation of a model of a directory.

    >>> import inspect
    >>> list(inspect.signature(torch.hub.help).parameters)[:2]
    ['github', 'model']
    """
    module, _ = _hubconf(github, "local" if os.path.isdir(github) else "github")
    return _entry(module, model).__doc__


def load(
    repo_or_dir: Any,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    r"""Build a model with the function of that name in a directory's ``hubconf.py``.

    >>> with open("hubconf.py", "w") as file:
    ...     _ = file.write("def answer(base=40):\n    return base + 2\n")
    >>> torch.hub.load(".", "answer", source="local")
    42
    """
    module, directory = _hubconf(repo_or_dir, source)
    with _importable(directory):
        return _entry(module, model)(*args, **kwargs)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Download a file; it appears under its name only when it is whole and its hash begins as it should."""
    target = Path(dst).expanduser()
    digest = hashlib.sha256()
    request = urllib.request.Request(url, headers={"User-Agent": "torch.hub"})
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False, suffix=".partial") as part:
        try:
            with urllib.request.urlopen(request) as response:
                size = response.headers.get("Content-Length")
                bar = {"total": None if size is None else int(size), "unit": "B", "unit_scale": True}
                with tqdm(**bar, disable=not progress) as shown:
                    while chunk := response.read(_CHUNK):
                        part.write(chunk)
                        digest.update(chunk)
                        shown.update(len(chunk))
            part.close()
            found = digest.hexdigest()
            if hash_prefix is not None and not found.startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')
            shutil.move(part.name, target)
        finally:
            Path(part.name).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> dict[str, Any]:
    """The state dict at a URL, downloaded once."""
    directory = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(directory, exist_ok=True)
    name = os.path.basename(urlparse(url).path) if file_name is None else file_name
    cached = os.path.join(directory, name)
    if not os.path.exists(cached):
        prefix = None
        if check_hash:
            match = HASH_REGEX.search(name)
            prefix = match.group(1) if match else None
        download_url_to_file(url, cached, prefix, progress=progress)
    if zipfile.is_zipfile(cached) and not _is_checkpoint(cached):
        return _load_packed(cached, directory, map_location, weights_only)
    return torch.load(cached, map_location=map_location, weights_only=weights_only)


def _is_checkpoint(path: str) -> bool:
    with zipfile.ZipFile(path) as archive:
        return any(entry.endswith("data.pkl") for entry in archive.namelist())


def _load_packed(path: str, directory: str, map_location: Any, weights_only: bool) -> dict[str, Any]:
    """The older form: a zip file that holds one checkpoint."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) != 1:
            raise RuntimeError("Only one file(not dir) is allowed in the zipfile")
        archive.extractall(directory)
    return torch.load(
        os.path.join(directory, members[0].filename), map_location=map_location, weights_only=weights_only
    )


adopt(globals())
