"""Programs of this folder with one library or the other for `torch`, and what archives carry between the two."""

import io
from pathlib import Path

_IMPORTS = ("import torch\n", "import torch.nn.functional as F\n")


def load(name, lib):
    """Return the names of a file beside this one, where `torch` is `lib`. Lines stay where they are."""
    path = Path(__file__).with_name(f"{name}.py")
    text = path.read_text()
    for line in _IMPORTS:
        text = text.replace(line, "\n", 1)
    names = {"torch": lib, "F": lib.nn.functional, "__name__": name, "__file__": str(path)}
    exec(compile(text, str(path), "exec"), names)
    return names


def plain(value):
    """Return a result without tensors."""
    if hasattr(value, "detach"):
        return str(value.dtype).rpartition(".")[2], value.detach().tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return str(value) if type(value).__name__ in ("dtype", "device") else value


def outcome(action):
    """Return what an action gives, or the name of the error that it raises."""
    try:
        return plain(action())
    except Exception as error:  # noqa: BLE001 - whatever the other raises too
        return type(error).__name__


def close(one, other):
    """Whether two results are the same, numbers nearly."""
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return one == other or abs(one - other) <= 1e-5 * max(1.0, abs(one)) or (one != one and other != other)
    return one == other


def carried(saved, writer, reader):
    """Return what one library loads of what the other saved."""
    file = io.BytesIO()
    writer.jit.save(saved, file)
    file.seek(0)
    return reader.jit.load(file)
