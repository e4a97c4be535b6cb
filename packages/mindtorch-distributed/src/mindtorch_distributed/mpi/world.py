"""The MPI world of this process, and how processes that started on their own become one."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from mindtorch_distributed import peers
from mindtorch_distributed.errors import DistBackendError
from mindtorch_distributed.mpi import library
from mindtorch_distributed.mpi.communicator import MpiCommunicator
from mindtorch_distributed.mpi.joining import attend, forget_shared_memory
from mindtorch_distributed.mpi.pmi import PmiRelay, PmiServer
from mindtorch_distributed.stores import Store

_SHARED = Path("/dev/shm")


class _World:
    """What this process knows of its MPI world, which it enters once."""

    name = ""
    server: PmiServer | None = None
    relay: PmiRelay | None = None
    groups = 0


def communicator(store: Store, rank: int, size: int, timeout: timedelta) -> MpiCommunicator:
    """Make a communicator of the processes that meet at `store`, each with its rank of `size`."""
    mpi = library.load()
    if not _World.name and any(name in os.environ for name in library.LAUNCHED):
        library.start(mpi)
        _World.name = "launched"
    me = {"world": _World.name, "rank": mpi.COMM_WORLD.rank if _World.name else -1, "peer": peers.own()}
    store.set(f"mpi/{rank}", json.dumps(me).encode())
    store.wait([f"mpi/{other}" for other in range(size)], timeout)
    members = [json.loads(store.get(f"mpi/{other}")) for other in range(size)]
    if not any(member["world"] for member in members):
        _enter(mpi, store, rank, size, timeout, [peers.Peer(**member["peer"]) for member in members])
        places = list(range(size))
    elif len({member["world"] for member in members}) == 1:
        places = [member["rank"] for member in members]
    else:
        raise DistBackendError(
            "processes that were in different worlds of MPI cannot become one: MPI starts once in a process. "
            f"Worlds of the ranks: {[member['world'] or 'none' for member in members]}"
        )
    whole = mpi.COMM_WORLD
    chosen = whole.group.Incl(places)
    processes = [peers.Peer(**member["peer"]) for member in members]
    tag = _tag(store)
    group = attend(lambda: whole.Create_group(chosen, tag), processes, timeout, "the group of MPI")
    return MpiCommunicator(mpi, group, processes, timeout)


def _tag(store: Store) -> int:
    """A number that is the group's own, so that groups made by several threads do not meet."""
    return int(store.add("mpi/tag", 0)) % 32767


def _enter(mpi: Any, store: Store, rank: int, size: int, timeout: timedelta, processes: Sequence[peers.Peer]) -> None:
    if rank == 0:
        host = _address()
        name = f"mindtorch_{uuid.uuid4().hex[:16]}"
        _World.server = PmiServer(name, size, host)
        store.set("mpi/server", json.dumps([name, *_World.server.address]).encode())
    store.wait(["mpi/server"], timeout)
    name, host, port = json.loads(store.get("mpi/server"))
    _World.relay = relay = PmiRelay(socket.create_connection((host, port), timeout.total_seconds()))
    variables = {"PMI_FD": str(relay.descriptor), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}
    os.environ.update(variables)
    try:
        attend(lambda: library.start(mpi), processes, timeout, "the world of MPI", relay.lost.is_set)
    finally:
        for variable in variables:  # processes that this one starts are not of this world
            os.environ.pop(variable, None)
    _World.name = name
    wait = mpi.COMM_WORLD.Ibarrier()

    def entered() -> None:
        while not wait.Test():
            time.sleep(0.001)

    attend(entered, processes, timeout, "the world of MPI")
    forget_shared_memory()


def _address() -> str:
    """The address at which other hosts reach this one; the loopback when it has no other."""
    host = os.environ.get("MASTER_ADDR", "localhost")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, 9))
            return str(probe.getsockname()[0])
    except OSError:  # no route: everybody is on this host
        return "127.0.0.1"


def remove_stale(age: float = 600.0) -> list[str]:
    """Remove shared memory of worlds that ended while they started, older than `age` seconds; return the names."""
    removed = []
    for file in _SHARED.glob("mpich_shm_*"):
        if time.time() - file.stat().st_mtime > age and file.owner() == Path.home().owner():
            file.unlink(missing_ok=True)
            removed.append(file.name)
    return removed
