"""Every name of torch.distributed that libraries use is there; those with nothing behind them raise, with a reason."""

import importlib
import tomllib
from pathlib import Path

import pytest

import mindtorch

NAMES = (Path(__file__).parent / "used_names.txt").read_text().split()
REASONS = tomllib.loads((Path(mindtorch.__file__).parent / "data" / "unsupported.toml").read_text())["features"]
REFUSED = {
    "torch.distributed.fsdp._runtime_utils._root_pre_forward",
    "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
    "torch.distributed.optim.DistributedOptimizer",
    "torch.distributed.rpc.TensorPipeRpcBackendOptions",
    "torch.distributed.rpc.api._all_gather",
    "torch.distributed.rpc.init_rpc",
    "torch.distributed.rpc.rpc_async",
    "torch.distributed.rpc.shutdown",
    "torch.distributed.tensor.experimental._attention.set_rotate_method",
}


def found(name):
    """Return what a program gets that imports a name, or reads it from what it imported."""
    parts = ["mindtorch", *name.split(".")[1:]]
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            value = getattr(value, part)
        return value
    raise AssertionError(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_used_name_is_there(name):
    value = found(name)
    refused = "Not offered" in (getattr(value, "__doc__", None) or "")
    assert refused == (name in REFUSED)
    if refused:
        with pytest.raises(NotImplementedError, match=r"is not offered"):
            value()
        assert any(name.startswith(feature) for feature in REASONS), name


def test_functions_that_need_an_agent_say_that_there_is_none():
    def asked():
        """Ask."""

    guarded = found("torch.distributed.rpc.api._require_initialized")(asked)
    assert (guarded.__name__, guarded.__doc__) == ("asked", "Ask.")
    with pytest.raises(RuntimeError, match=r"^RPC has not been initialized\. Call torch\.distributed\.rpc\.init_rpc"):
        guarded()
