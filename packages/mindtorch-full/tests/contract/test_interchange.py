"""Every dtype in every form of a checkpoint, saved by each side and loaded by the other: bytes, strides, sharing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt

from .test_save_load import NEW, STANDARD

torch = pytest.importorskip("torch", reason="oracle")
BYTES = [(17 * index + 3) % 120 for index in range(24 * 16)]


def _base(lib: Any, name: str) -> Any:
    """24 elements whose bytes are given, so that no conversion takes part."""
    dtype = getattr(lib, name)
    values = [byte % 2 for byte in BYTES] if name == "bool" else BYTES
    return lib.tensor(values[: 24 * dtype.itemsize], dtype=lib.uint8).view(dtype).reshape(4, 6)


def _shared(base: Any) -> dict[str, Any]:
    return {"whole": base, "row": base[1], "again": base}


def _parameter(lib: Any, base: Any) -> Any:
    return lib.nn.Parameter(base, requires_grad=base.is_floating_point() or base.is_complex())


FORMS = {
    "plain": lambda lib, base: base,
    "view": lambda lib, base: base[1:3, 2:],
    "shared": lambda lib, base: _shared(base),
    "non-contiguous": lambda lib, base: base.t()[::2],
    "parameter": lambda lib, base: _parameter(lib, base),
    "nested": lambda lib, base: {"a": [base, (base[0], {"b": base[:, 1]})], "n": 3},
    "empty": lambda lib, base: base[:0],
    "scalar": lambda lib, base: base[1, 2],
    "expanded": lambda lib, base: base[0].expand(3, 6),
}


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [found for item in value.values() for found in _tensors(item)]
    if isinstance(value, list | tuple):
        return [found for item in value for found in _tensors(item)]
    return [value] if hasattr(value, "untyped_storage") else []


def _seen(value: Any) -> list[Any]:
    """What both sides must agree on, tensor by tensor, and which of them share memory."""
    tensors = _tensors(value)
    storages = [tensor.untyped_storage().data_ptr() for tensor in tensors]
    return [
        (
            type(tensor).__name__, str(tensor.dtype), tuple(tensor.shape), tensor.stride(), tensor.storage_offset(),
            tensor.requires_grad, tensor.untyped_storage().tolist(), storages.index(storage),
        )
        for tensor, storage in zip(tensors, storages, strict=True)
    ]  # fmt: skip


def _check(make: Any, tmp_path: Path, *, formats: tuple[bool, ...] = (True, False)) -> None:
    expected = _seen(make(torch))
    assert expected
    assert _seen(make(mt)) == expected
    for writer, reader in ((mt, torch), (torch, mt), (mt, mt)):
        for zip_format in formats:
            stream = io.BytesIO()
            writer.save(make(writer), stream, _use_new_zipfile_serialization=zip_format)
            stream.seek(0)
            assert _seen(reader.load(stream)) == expected, (writer.__name__, zip_format)
        path = tmp_path / "file.pt"
        writer.save(make(writer), path)
        assert _seen(reader.load(path, mmap=True)) == expected, (writer.__name__, "mapped")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [*STANDARD, *NEW])
def test_every_dtype_in_every_form(name: str, form: str, tmp_path: Path) -> None:
    formats = (True, False) if name in STANDARD else (True,)
    _check(lambda lib: FORMS[form](lib, _base(lib, name)), tmp_path, formats=formats)


def _module(lib: Any, name: str) -> Any:
    lib.manual_seed(0)
    return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), lib.nn.Linear(4, 2)).to(getattr(lib, name))


def _optimizer_state(lib: Any, name: str, kind: str) -> Any:
    module = _module(lib, "float32")
    optimizer = getattr(lib.optim, kind)(module.parameters(), lr=0.5, **({"momentum": 0.9} if kind == "SGD" else {}))
    for parameter in module.parameters():
        parameter.grad = lib.ones_like(parameter)
    optimizer.step()
    state = optimizer.state_dict()
    for entry in state["state"].values():
        for key, value in entry.items():
            if hasattr(value, "dtype") and value.dim():
                entry[key] = value.to(getattr(lib, name))
    return state


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16"])
def test_module_state(name: str, tmp_path: Path) -> None:
    _check(lambda lib: _module(lib, name).state_dict(), tmp_path)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "RMSprop"])
@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16"])
def test_optimizer_state(name: str, kind: str, tmp_path: Path) -> None:
    ours, theirs = _optimizer_state(mt, name, kind), _optimizer_state(torch, name, kind)
    assert ours["param_groups"] == theirs["param_groups"]
    _check(lambda lib: _optimizer_state(lib, name, kind), tmp_path)
