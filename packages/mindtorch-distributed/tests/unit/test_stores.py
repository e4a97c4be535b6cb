"""Every store does the same to its keys."""

import socket
from datetime import timedelta

import pytest

from mindtorch_distributed import DistNetworkError, DistStoreError, FileStore, HashStore, PrefixStore, Store, TCPStore

SHORT = timedelta(milliseconds=50)


@pytest.fixture(params=["hash", "file", "tcp", "prefix"])
def store(request, tmp_path):
    made = {
        "hash": HashStore,
        "file": lambda: FileStore(str(tmp_path / "store"), 1),
        "tcp": lambda: TCPStore("127.0.0.1", 0, 1, True),
        "prefix": lambda: PrefixStore("within", HashStore()),
    }[request.param]()
    made.set_timeout(SHORT)
    return made


def test_values_are_set_read_added_and_removed(store):
    store.set("key", "value")
    assert store.get("key") == b"value"
    assert (store.add("count", 3), store.add("count", 4), store.get("count")) == (3, 7, b"7")
    assert store.check(["key", "count"])
    assert not store.check(["key", "absent"])
    assert store.delete_key("key")
    assert not store.check(["key"])


def test_a_value_is_replaced_only_when_it_is_as_expected(store):
    answers = [store.compare_set("key", *pair) for pair in (("", "a"), ("b", "c"), ("a", "c"))]
    assert answers == [b"a", b"a", b"c"]
    assert store.compare_set("other", "x", "y") == b"x"


def test_waiting_ends(store):
    with pytest.raises(RuntimeError, match=r"[Tt]imeout"):
        store.wait(["absent"])
    with pytest.raises(RuntimeError, match=r"[Tt]imeout"):
        store.get("absent")
    store.set("there", b"1")
    store.wait(["there"], SHORT)


def test_a_clone_sees_the_same(store):
    other = store.clone()
    store.set("key", "value")
    assert other.get("key") == b"value"


def test_a_port_has_one_server_and_many_clients():
    master = TCPStore("127.0.0.1", 0, 1, True)
    clients = [TCPStore("127.0.0.1", master.port, is_master=False) for _ in range(3)]
    assert [client.add("joined", 1) for client in clients] == [1, 2, 3]
    with pytest.raises(RuntimeError, match="address already in use"):
        TCPStore("127.0.0.1", master.port, 1, True)
    with pytest.raises(DistStoreError, match=r"1/2 clients joined"):
        TCPStore("127.0.0.1", 0, 2, True, timedelta(milliseconds=100))


def test_the_last_user_of_a_file_takes_it_away(tmp_path):
    path = tmp_path / "shared"
    first, second = FileStore(str(path), 2), FileStore(str(path), 2)
    first.set("key", "value")
    assert first.num_keys() == 2  # the count of users is a key, as in torch
    other = first.clone()
    del first
    assert other.get("key") == b"value"
    del other
    assert path.exists()
    del second
    assert not path.exists()
    alone = FileStore(str(path), 2)  # the other process of this world is still to come
    del alone
    assert path.exists()


def test_a_store_takes_a_bound_socket_over():
    given = socket.socket()
    given.bind(("localhost", 0))
    port, descriptor = given.getsockname()[1], given.detach()
    with pytest.raises(DistStoreError, match=f"bound to port {port}, expected to be bound to port {port + 1}"):
        TCPStore("localhost", port + 1, 1, True, master_listen_fd=descriptor)
    store = TCPStore("localhost", port, 1, True, master_listen_fd=descriptor)
    store.set("key", "value")
    assert store.get("key") == b"value"
    assert f"server=TCPServer(port={port}))" in repr(store)
    with pytest.raises(DistNetworkError, match=r"Failed to open existing socket.*EBADF"):
        TCPStore("localhost", 0, 1, True, master_listen_fd=9999)


def test_stores_of_nobody_are_refused():
    with pytest.raises(ValueError, match="TCPStore world size cannot be 0"):
        TCPStore("localhost", 0, 0, True)
    with pytest.raises(ValueError, match="store argument cannot be None"):
        PrefixStore("prefix", None)


class Own(Store):
    """A program's store, which takes bytes alone."""

    def __init__(self):
        super().__init__()
        self.kept = {}

    def set(self, key, value):
        assert type(value) is bytes
        self.kept[key] = value

    def get(self, key):
        return self.kept[key]

    def compare_set(self, key, expected, desired):
        if self.kept.get(key, expected) == expected:
            self.kept[key] = desired
        return self.kept[key]


def test_a_store_of_a_program_has_what_it_defines():
    store = PrefixStore("below", Own())
    assert not store.has_extended_api()
    store.multi_set(["a", "b"], ["1", b"2"])
    store.append("a", "3")
    store.append("new", "4")
    assert store.multi_get(["a", "b", "new"]) == [b"13", b"2", b"4"]
    for call, text in (
        (lambda: Store().get("key"), "Not implemented."),
        (lambda: Store().append("key", "value"), "Not implemented."),
        (lambda: store.add("key", 1), 'Tried to call pure virtual function "::c10d::Store::add"'),
        (store.num_keys, 'Tried to call pure virtual function "::c10d::Store::getNumKeys"'),
        (lambda: store.queue_pop("key"), "queue support is not implemented."),
        (store.list_keys, "listKeys support is not implemented."),
    ):
        with pytest.raises(RuntimeError) as raised:  # NotImplementedError is one, too
            call()
        assert str(raised.value) == text
