"""Small utilities of the surface: hooks, weak dictionaries, context decorators, swapping, hub, absent modules."""

from __future__ import annotations

import gc
import pickle
from collections import OrderedDict

import pytest

import mindtorch as mt
from mindtorch.utils._contextlib import _DecoratorContextManager, context_decorator
from mindtorch.utils.hooks import RemovableHandle
from mindtorch.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary


class _Counted(_DecoratorContextManager):
    depth = 0

    def __enter__(self):
        type(self).depth += 1

    def __exit__(self, *exc_info):
        type(self).depth -= 1


def test_context_decorates_functions_and_generators():
    @_Counted()
    def function():
        return _Counted.depth

    @_Counted()
    def generator():
        sent = yield _Counted.depth
        yield sent

    assert function() == 1
    running = generator()
    assert next(running) == 1
    assert _Counted.depth == 0  # left while the generator waits
    assert running.send("x") == "x"
    with pytest.raises(RuntimeError, match="Cannot decorate classes"):
        context_decorator(lambda: _Counted(), type("Some", (), {}))


def test_handles_remove_their_hook_once_and_survive_their_dictionary():
    hooks, extra = OrderedDict(), OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = extra[handle.id] = print
    with handle:
        assert handle.id in hooks
    assert not hooks
    assert not extra
    handle.remove()
    del hooks
    gc.collect()
    handle.remove()
    assert pickle.loads(pickle.dumps(handle.__getstate__()))[1] == handle.id


def test_weak_dictionary_goes_by_identity_and_forgets():
    entries = WeakTensorKeyDictionary()
    key, other = mt.ones(2), mt.ones(2)
    entries[key] = "kept"
    assert key in entries
    assert other not in entries
    assert entries.get(other, "none") == "none"
    assert [value for _, value in entries.items()] == ["kept"]
    del key
    gc.collect()
    assert len(entries) == 0
    assert isinstance(entries, WeakIdKeyDictionary)


def test_swapping_changes_what_every_reference_sees():
    first, second = mt.nn.Parameter(mt.ones(1)), mt.nn.Parameter(mt.zeros(2))
    first.mark = "moves"
    held = [first]
    mt.utils.swap_tensors(first, second)
    assert held[0].shape == (2,)
    assert second.mark == "moves"
    (first * 3).sum().backward()
    assert first.grad.tolist() == [3.0, 3.0]
    assert second.grad is None


def test_swapping_refuses_weakly_held_tensors():
    first = mt.ones(1)
    entries = WeakTensorKeyDictionary({first: 1})
    with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref associated with it"):
        mt.utils.swap_tensors(first, mt.ones(1))
    assert len(entries) == 1


def test_a_backward_into_a_leaf_that_was_swapped_after_use_is_refused():
    leaf = mt.ones(2, requires_grad=True)
    total = (leaf * 2).sum()
    moved = mt.zeros(2, requires_grad=True)
    mt.utils.swap_tensors(leaf, moved)
    with pytest.raises(RuntimeError, match="AccumulateGrad node that was poisoned by swap_tensors"):
        total.backward()
    assert moved.grad is None
    assert leaf.grad is None


def test_hub_loads_from_a_directory_and_by_url(tmp_path):
    (tmp_path / "hubconf.py").write_text("dependencies = ['numpy']\ndef net(size=1):\n    'doc'\n    return size\n")
    assert mt.hub.load(str(tmp_path), "net", size=3, source="local") == 3
    assert mt.hub.list(str(tmp_path)) == ["net"]
    assert mt.hub.help(str(tmp_path), "net") == "doc"
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        mt.hub.load(str(tmp_path), "other", source="local")
    with pytest.raises(NotImplementedError, match="source='local'"):
        mt.hub.load("owner/name", "net")
    mt.save({"w": mt.ones(2)}, tmp_path / "weights.pt")
    url = (tmp_path / "weights.pt").as_uri()
    state = mt.hub.load_state_dict_from_url(url, model_dir=str(tmp_path / "cache"), weights_only=True)
    assert state["w"].tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        mt.hub.download_url_to_file(url, str(tmp_path / "copy.pt"), hash_prefix="00000000")
    assert not (tmp_path / "copy.pt").exists()


def test_what_is_absent_says_so():
    with pytest.raises(AttributeError, match=r"module 'torch\.utils' has no attribute 'nothing'"):
        mt.utils.nothing
    with pytest.raises(AttributeError, match=r"module 'torch\.linalg' has no attribute 'nothing'"):
        mt.linalg.nothing
    with mt.profiler.record_function("label"):
        pass
