"""Agents meet in rounds: they agree on ranks, take out nodes that die, and say what torch's say."""

import multiprocessing
import os
import pickle
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from mindtorch.distributed import HashStore
from mindtorch.distributed.elastic import events, metrics, timer
from mindtorch.distributed.elastic.rendezvous import RendezvousParameters, RendezvousTimeoutError, dynamic_rendezvous
from mindtorch.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend, create_backend
from mindtorch.distributed.elastic.rendezvous.utils import parse_rendezvous_endpoint
from mindtorch_testing import assert_torch_error


def node(store, number, nodes=2, **options):
    given = {"min_nodes": nodes, "max_nodes": nodes, "local_addr": f"127.0.0.{number + 1}", **options}
    parameters = RendezvousParameters("c10d", "here", "run", **given)
    return dynamic_rendezvous.create_handler(store, C10dRendezvousBackend(store, "run"), parameters)


def test_nodes_agree_on_ranks_and_on_the_workers_store():
    store = HashStore()
    handlers = [node(store, number) for number in range(2)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda handler: handler.next_rendezvous(), handlers))
    assert [(info.rank, info.world_size) for info in found] == [(0, 2), (1, 2)]
    assert found[0].bootstrap_store_info == found[1].bootstrap_store_info
    assert found[0].bootstrap_store_info.master_addr == "127.0.0.1"
    found[0].store.set("key", "of the round")
    assert found[1].store.get("key") == b"of the round"
    assert handlers[0].shutdown()
    handlers[1]._state_holder._last_sync_time = -1  # what was read a second ago counts else
    assert handlers[1].is_closed()


def test_a_node_that_gave_no_sign_of_life_leaves_the_round():
    store, backend = HashStore(), None
    handler = node(store, 0, nodes=1)
    handler.next_rendezvous()
    backend = C10dRendezvousBackend(store, "run")
    bits, token = backend.get_state()
    state = pickle.loads(bits)
    dead = dynamic_rendezvous._NodeDesc("gone", 1, 1)
    state.wait_list.add(dead)
    state.last_heartbeats[dead] = datetime.now(UTC) - timedelta(seconds=60)
    assert backend.set_state(pickle.dumps(state), token)[2]
    assert not backend.set_state(bits, token)[2]  # who read before somebody else wrote, writes nothing
    handler._state_holder._last_sync_time = -1
    assert handler.num_nodes_waiting() == 0
    assert handler.shutdown()


def test_a_node_that_stays_alone_says_so_in_time():
    handler = node(HashStore(), 0, join_timeout="1")
    with pytest.raises(RendezvousTimeoutError):
        handler.next_rendezvous()


@pytest.mark.parametrize("options", [{"store_type": "dummy"}, {"read_timeout": "0"}, {"is_host": "maybe"}])
def test_wrong_options_are_refused_as_torch_does(options):
    pytest.importorskip("torch", reason="oracle")
    torchs = pytest.importorskip("torch.distributed.elastic.rendezvous.c10d_rendezvous_backend")
    theirs = pytest.importorskip("torch.distributed.elastic.rendezvous")
    given = ("c10d", "localhost:0", "run", 1, 1)
    assert_torch_error(
        lambda: create_backend(RendezvousParameters(*given, **options)),
        lambda: torchs.create_backend(theirs.RendezvousParameters(*given, **options)),
    )


@pytest.mark.parametrize("endpoint", ["~", "a b:1", ":1", "a:", "a:-1", "a:65536"])
def test_wrong_endpoints_are_refused_as_torch_does(endpoint):
    pytest.importorskip("torch", reason="oracle")
    torchs = pytest.importorskip("torch.distributed.elastic.rendezvous.utils")
    assert_torch_error(
        lambda: parse_rendezvous_endpoint(endpoint, 1), lambda: torchs.parse_rendezvous_endpoint(endpoint, 1)
    )


def test_events_are_written_as_torch_does():
    pytest.importorskip("torch", reason="oracle")
    torchs = pytest.importorskip("torch.distributed.elastic.events")
    ours = events.RdzvEvent("name", "run", "said", "host", 3, events.NodeState.FAILED, rank=1)
    expected = torchs.RdzvEvent("name", "run", "said", "host", 3, torchs.NodeState.FAILED, rank=1)
    assert str(ours) == str(expected)
    assert events.RdzvEvent.deserialize(str(expected)) == ours


def hold(queue):
    timer.configure(timer.LocalTimerClient(queue))
    with timer.expires(after=0.1):
        time.sleep(60)


def test_a_worker_that_holds_a_timer_for_too_long_is_ended():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    server = timer.LocalTimerServer(queue, max_interval=0.01)
    server.start()
    worker = context.Process(target=hold, args=(queue,))
    worker.start()
    worker.join(30)
    server.stop()
    assert worker.exitcode == -signal.SIGKILL


def test_a_timer_needs_a_client():
    pytest.importorskip("torch", reason="oracle")
    torchs = pytest.importorskip("torch.distributed.elastic.timer")
    assert_torch_error(lambda: timer.expires(1).__enter__(), lambda: torchs.expires(1).__enter__())


def test_figures_go_to_the_handler_of_their_group(monkeypatch):
    seen = []

    class Listener(metrics.MetricHandler):
        def emit(self, metric_data):
            seen.append((metric_data.group_name, metric_data.name))

    monkeypatch.setattr(metrics.api, "_metrics_map", {})
    metrics.configure(Listener(), "mine")
    metrics.put_metric("other", 1)

    @metrics.prof(group="mine")
    def fails():
        os.stat("/nothing/here")

    with pytest.raises(FileNotFoundError):
        fails()
    name = metrics.api._get_metric_name(fails)
    assert seen == [("mine", f"{name}.failure"), ("mine", f"{name}.duration.ms")]
