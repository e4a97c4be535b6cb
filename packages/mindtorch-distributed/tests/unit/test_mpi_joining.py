"""What waits for others inside of MPI's library ends when they do not come."""

import os
import socket
import subprocess
import sys
import threading
from datetime import timedelta

import pytest

from mindtorch_distributed import DistBackendError, peers
from mindtorch_distributed.mpi.joining import attend
from mindtorch_distributed.mpi.pmi import PmiRelay, PmiServer

SOON = timedelta(milliseconds=200)
LONG = timedelta(seconds=60)


def ask(relay, line):
    with socket.socket(fileno=os.dup(relay.descriptor)) as near:
        near.sendall(line)
        return near.recv(1000)


def test_a_step_gives_its_result_or_its_error():
    assert attend(lambda: 7, [], LONG, "a number") == 7
    with pytest.raises(ZeroDivisionError):
        attend(lambda: 1 // 0, [], LONG, "a number")


def test_a_step_that_stays_is_late():
    with pytest.raises(DistBackendError, match="Timed out waiting 200ms for the others"):
        attend(threading.Event().wait, [], SOON, "the others")


def test_a_step_ends_with_a_process_that_it_waits_for():
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    peer = peers.Peer(socket.gethostname(), other.pid, peers._started(other.pid))
    assert not peer.has_ended()
    other.kill()
    with pytest.raises(DistBackendError, match="Connection closed by peer: rank 0 of the group ended"):
        attend(threading.Event().wait, [peer], LONG, "the others")
    other.communicate()


def test_a_relay_keeps_silent_when_another_process_ends_at_a_barrier():
    server = PmiServer("world", 2, "127.0.0.1")
    relay = PmiRelay(socket.create_connection(server.address))
    other = socket.create_connection(server.address)
    assert b"rc=0" in ask(relay, b"cmd=init pmi_version=1 pmi_subversion=1\n")
    threading.Thread(target=ask, args=(relay, b"cmd=barrier_in\n"), daemon=True).start()
    assert not relay.lost.wait(0.1)
    other.close()
    assert relay.lost.wait(10)
    with pytest.raises(DistBackendError, match="a rank of the group ended"):
        attend(threading.Event().wait, [], LONG, "the world", relay.lost.is_set)
