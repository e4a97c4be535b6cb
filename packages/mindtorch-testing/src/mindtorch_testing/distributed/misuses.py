"""What a library's `torch.distributed` says of wrong calls: its argument is the library, its output texts as JSON.

    RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 python -m mindtorch_testing.distributed.misuses torch

The calls are statements in `misuses.toml`; they run in the order of that file. The library is imported by name, since
each process runs with one of the two.
"""

import contextlib
import importlib
import json
import logging
import re
import sys
import tempfile
import tomllib
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

_TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
DIFFERENT: dict[str, str] = _TABLE.pop("different")
MISUSES: dict[str, list[str]] = _TABLE
VARIES = (
    (re.compile(r"\nException raised from.*", re.S), ""),
    (re.compile(r" at 0x[0-9a-f]+"), " at ADDRESS"),
    (re.compile(r"^\[.*?:\d+\] ", re.M), ""),
    (re.compile(r"\b(127\.0\.0\.1|localhost)\b"), "HOST"),
    (re.compile(r"/tmp/\S+"), "FILE"),
    (re.compile(r"\bmindtorch\b"), "torch"),
    (re.compile(r"/__w/pytorch/pytorch/third_party/gloo/"), ""),
    (re.compile(r"\[rank\d+\]:\[F\d+ \S+ \S+\] "), ""),
)
"""What of a text differs from run to run: where torch's sources raise, addresses, hosts, ports and files."""


def names(library: str) -> dict[str, Any]:
    """Return what the statements call."""
    torch = importlib.import_module(library)
    dist = importlib.import_module(f"{library}.distributed")
    importlib.import_module(f"{library}.distributed.optim")
    nn = torch.nn

    class Two(nn.Module):  # type: ignore[misc, name-defined] # the library is chosen at run time
        """Two layers, of which one is left out until `more` is set."""

        more = False

        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            """Return the first layer's output, or the second's of it."""
            return self.second(self.first(x)) if self.more else self.first(x)

    def broken(state: object, bucket: object) -> None:
        raise ZeroDivisionError("a hook's own")

    return {"torch": torch, "dist": dist, "nn": nn, "DDP": nn.parallel.DistributedDataParallel, "Two": Two,
            "broken": broken, "timedelta": timedelta, "one": torch.ones(2)}  # fmt: skip


def said(statement: str, given: dict[str, Any]) -> str:
    """Return type and text of what a statement raises, or that it raises nothing."""
    try:
        exec(statement, given | {"one": given["one"].clone()})
    except Exception as error:  # noqa: BLE001 - errors are what is compared
        text = f"{type(error).__name__}: {error}"
        for pattern, replacement in VARIES:
            text = pattern.sub(replacement, text)
        return text.strip()
    return ""


def main() -> None:
    """Run all statements and print what was said."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    given = names(sys.argv[1])
    dist = given["dist"]
    texts: dict[str, dict[str, str]] = {}

    def run(part: str) -> None:
        texts[part] = {}
        for statement in MISUSES[part]:
            texts[part][statement] = said(statement, given)
            if part == "before" and dist.is_initialized():
                dist.destroy_process_group()

    run("before")
    with tempfile.TemporaryDirectory() as folder:
        short = timedelta(milliseconds=50)
        given["store"], given["file"] = dist.HashStore(), dist.FileStore(f"{folder}/store", 1)
        given["tcp"] = dist.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
        given["prefixed"] = dist.PrefixStore("under", given["store"])
        for name in ("store", "file", "tcp", "prefixed"):
            given[name].set_timeout(short)
        run("stores")
    dist.init_process_group("gloo", timeout=timedelta(seconds=10))
    given["rank"], given["size"], given["old"] = dist.get_rank(), dist.get_world_size(), dist.group.WORLD
    run("world")
    run("wrapped")
    with contextlib.suppress(ValueError, RuntimeError):
        dist.destroy_process_group()
    run("after")
    print("TEXTS " + json.dumps(texts), flush=True)


if __name__ == "__main__":
    main()
