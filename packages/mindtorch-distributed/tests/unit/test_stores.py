"""Every store does the same to its keys."""

from datetime import timedelta

import pytest

from mindtorch_distributed import DistStoreError, FileStore, HashStore, PrefixStore, TCPStore

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
