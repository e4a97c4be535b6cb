"""`torch.distributed._state_dict_utils` in one process, beside torch's."""

import importlib
import io

import pytest

import mindtorch

LIBRARIES = ("mindtorch", "torch")


def both(action):
    """Return what an action on a library and its module says on ours and on torch."""
    pytest.importorskip("torch", reason="oracle")
    told = []
    for name in LIBRARIES:
        library = importlib.import_module(name)
        module = importlib.import_module(f"{name}.distributed._state_dict_utils")
        try:
            told.append(repr(action(library, module)))
        except Exception as error:  # noqa: BLE001 - whatever torch raises
            told.append((type(error).__name__, str(error)))
    return told


def state(T):
    """Return a state with a value of every kind."""
    return {"a": T.arange(3), "b": {"c": [T.ones(2), 2, (3,)]}, "e": b"q", "f": None, "g": T.tensor(7.0), "t": (1, 2)}


ACTIONS = {
    "offload": lambda T, m: m._offload_state_dict_to_cpu(state(T)),
    "gather": lambda T, m: m._gather_state_dict(state(T)),
    "another type": lambda T, m: m._offload_state_dict_to_cpu({"x": {1}}),
    "another type allowed": lambda T, m: m._offload_state_dict_to_cpu({"x": {1}}, type_check=False),
    "no group": lambda T, m: m._offload_state_dict_to_cpu(state(T), ranks_only=(1,)),
    "alike": lambda T, m: m._check_state_dict_similarity(state(T), m._create_cpu_state_dict(state(T))),
    "another shape": lambda T, m: m._check_state_dict_similarity(state(T), {**state(T), "a": T.arange(4)}),
    "fewer keys": lambda T, m: m._check_state_dict_similarity(state(T), {"a": T.arange(3)}),
    "another plain value": lambda T, m: m._check_state_dict_similarity(state(T), {**state(T), "e": 3}),
    "copy": lambda T, m: m._copy_state_dict(state(T), m._create_cpu_state_dict(state(T))),
    "copy to other keys": lambda T, m: m._copy_state_dict(state(T), {"a": 1}),
    "copy to a number": lambda T, m: m._copy_state_dict({"a": T.ones(2)}, {"a": 1}),
    "copy to another shape": lambda T, m: m._copy_state_dict({"a": T.ones(2)}, {"a": T.ones(3)}),
    "copy to a shorter list": lambda T, m: m._copy_state_dict({"a": [1, 2]}, {"a": [1]}),
    "flatten": lambda T, m: m._flatten_state_dict({**state(T), "empty": {}, "none": []}),
    "back": lambda T, m: m._unflatten_state_dict(*m._flatten_state_dict(state(T))),
    "shared": lambda T, m: m._create_cpu_state_dict(state(T), share_memory=True)["a"].is_shared(),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_as_torch_does(name):
    ours, theirs = both(ACTIONS[name])
    assert ours == theirs


def test_copies_are_written_into_what_lies_ready():
    module = importlib.import_module("mindtorch.distributed._state_dict_utils")
    ready = module._create_cpu_state_dict(state(mindtorch))
    kept = ready["b"]["c"][0]
    copied = module._copy_state_dict({**state(mindtorch), "d": io.BytesIO(b"x")}, {**ready, "d": io.BytesIO()})
    assert copied["b"]["c"][0] is kept
    assert kept.tolist() == [1.0, 1.0]
    assert copied["d"].read() == b"x"
