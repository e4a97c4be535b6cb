"""Content stores are written and read by both: the same files, and what one wrote the other reads."""

import importlib

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch  # noqa: E402


def store(module):
    return importlib.import_module(f"{module.__name__}.utils._content_store")


@pytest.mark.parametrize(("writes", "reads"), [(mindtorch, torch), (torch, mindtorch), (mindtorch, mindtorch)])
def test_what_one_writes_the_other_reads(writes, reads, tmp_path):
    writer = store(writes).ContentStoreWriter(str(tmp_path), stable_hash=True)
    x = writes.arange(4.0)
    writer.write_tensor("a/x", x)
    writer.write_tensor("part", x[1:])
    writer.write_tensor("conj", writes.tensor([1 + 2j]).conj())
    assert len(list((tmp_path / "storages").iterdir())) == 2
    reader = store(reads).ContentStoreReader(str(tmp_path))
    whole, part, conj = (reader.read_tensor(name) for name in ("a/x", "part", "conj"))
    assert whole.tolist() == [0, 1, 2, 3]
    assert part.tolist() == [1, 2, 3]
    assert whole.untyped_storage()._cdata == part.untyped_storage()._cdata
    assert conj.is_conj()
    assert conj.tolist() == [1 - 2j]
    with pytest.raises(FileNotFoundError):
        reader.read_tensor("missing")
