"""Names that libraries use: marks of dimensions, storages from bytes and their owners, likenesses, profilers stopped by hand."""

import importlib
import warnings

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

DIM = "T.export.Dim"
OWNERS = "T._C._storage_Use_Count"
EXPRESSIONS = [
    f"{DIM}.AUTO, {DIM}.DYNAMIC, {DIM}.STATIC, {DIM}.AUTO == {DIM}.AUTO(), {DIM}.DYNAMIC(max=5)",
    f"{DIM}.AUTO(min=3)()",
    f"{DIM}.AUTO(min=-1)",
    f"{DIM}.AUTO(min=5, max=3)",
    f"{DIM}('s'), {DIM}('s', max=3), {DIM}('s', min=2, max=3), {DIM}('s', min=2), {DIM}('s').max",
    f"{DIM}('s', min=4, max=3)",
    f"{DIM}('two words')",
    f"2 * {DIM}('s'), {DIM}('s') + 1, 3 * (2 * {DIM}('s') - 1), (1 + {DIM}('s')) * 2 - 2, {DIM}('s') * 1",
    f"(2 * {DIM}('s', min=3, max=9) + 1).min, (2 * {DIM}('s', min=3, max=9) + 1).max, (3 * {DIM}('s')).max",
    f"({DIM}('s', min=3) - 4).min",
    f"({DIM}('s', max=2**62) * 4).max",
    f"(2 * {DIM}('s') + 1).root, (2 * {DIM}('s') + 1).__name__",
    f"1 - {DIM}('s')",
    f"{DIM}('s') * 0",
    f"{DIM}('s') * 1.5",
    f"{DIM}('s') - 'x'",
    f"{DIM}('s') + {DIM}('t')",
    "T.export.dims('a', 'b', min=3)",
    "T.ByteStorage._from_buffer(b'abcd')",
    "T.ByteStorage._from_buffer(b'abcd', count=2, offset=1)",
    "T.FloatStorage._from_buffer(bytearray(8), 'native', 1, 1)",
    "T.IntStorage._from_buffer(bytearray(range(8)), 'big')",
    "T.FloatStorage._from_buffer(bytearray(8))",
    "T.FloatStorage._from_buffer(bytearray(8), dtype=T.float32)",
    "T.FloatStorage.from_buffer(bytearray(8), dtype=T.float32)",
    "T.FloatStorage._from_buffer(bytearray(8), device='cpu')",
    "T.TypedStorage._from_buffer(bytearray(8), dtype=T.int32)",
    "T.TypedStorage._from_buffer(bytearray(8), 'native', dtype=3)",
    "T.TypedStorage._from_buffer(bytearray(8), 'native', dtype=T.int16)",
    "T.TypedStorage._from_buffer(bytearray(8), 'native')",
    "T.TypedStorage._from_buffer(bytearray(8), 'native', device='cuda')",
    f"(lambda t: {OWNERS}(t.untyped_storage()._cdata))(T.ones(3))",
    f"(lambda t, *views: {OWNERS}(t.untyped_storage()._cdata))(*(lambda t: (t, t[:2], t.detach()))(T.ones(3)))",
    f"(lambda t: (t, {OWNERS}(t.untyped_storage()._cdata), t[1:2], {OWNERS}(t.untyped_storage()._cdata)))(T.ones(3))",
    f"(lambda s: {OWNERS}(s._cdata))(T.ones(3).untyped_storage())",
    "[(one.name, one.value) for one in T.numa.binding.AffinityMode]",
    "T.numa.binding.NumaOptions(T.numa.binding.AffinityMode.NODE)",
    "T.numa.binding.NumaOptions()",
    "T.jit._recursive.concrete_type_store.type_store.pop(T.nn.Module, None)",
    "T._C._distributed_rpc._is_current_rpc_agent_set(), T._C._distributed_c10d.Reducer.__name__",
    "[getattr(T._C, '_has_' + n) for n in 'cuda cudnn cusparselt eigen_sparse kleidiai magma mkldnn_acl mps xpu'.split()]",
    "type(T.jit._state._enabled).__name__, type(T.jit._state._script_classes).__name__",
    "T.sparse_coo_tensor(size=(2, 3)), T.sparse_coo_tensor(size=(2,), dtype=T.float64, requires_grad=True)",
    "T.sparse_coo_tensor((2, 3))",
    "T.sparse_coo_tensor()",
    "type(T.nested._internal.nested_tensor._tensor_symint_registry).__name__",
    "isinstance(T.ones(1), T.nested._internal.nested_tensor.NestedTensor)",
]
MODULES = (
    "export",
    "numa.binding",
    "jit._recursive",
    "jit._state",
    "_subclasses.meta_utils",
    "nested._internal.nested_tensor",
)


def outcome(T, expression):
    """What an expression gives or raises, as text."""
    for name in MODULES:
        importlib.import_module(f"{T.__name__}.{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(eval(expression, {"T": T}))
        except (RuntimeError, TypeError, ValueError, AttributeError, AssertionError, NotImplementedError) as error:
            return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_they_behave_as_torchs(expression):
    assert outcome(mt, expression) == outcome(torch, expression)


LIKE = """
make = T._subclasses.meta_utils.MetaConverter()
leaf = T.ones(3, 4, requires_grad=True)
part = T.arange(20.0).reshape(4, 5)[1:, ::2]
inner = leaf * 2
leaf.grad = T.zeros(3, 4)
found = [make(one) for one in (leaf, leaf, leaf.detach().t(), part, inner)]
facts = [(tuple(o.shape), o.stride(), o.storage_offset(), o.device.type, o.requires_grad, o.is_leaf) for o in found]
shared = found[0].untyped_storage()._cdata == found[2].untyped_storage()._cdata
answer = (facts, shared, found[0] is found[1], found[3].untyped_storage().nbytes(), found[0].grad.device.type,
          make.hit > 0, make.successful(), make(3), make.successful(), type(make(T.nn.Parameter(T.ones(1)))) is T.Tensor)
"""


def test_meta_tensors_in_the_likeness_of_tensors():
    answers = []
    for T in (mt, torch):
        importlib.import_module(f"{T.__name__}._subclasses.meta_utils")
        scope = {"T": T}
        exec(LIKE, scope)
        answers.append(scope["answer"])
    assert answers[0] == answers[1]


def test_what_converters_do_not_offer_raises():
    make = mt._subclasses.meta_utils.MetaConverter()
    for call in (
        lambda: make(mt.ones(2), shape_env=object()),
        lambda: make(mt.eye(2).to_sparse()),
        lambda: make.meta_tensor(mt.ones(2), None, None, None, None),
        lambda: mt._subclasses.meta_utils.MetaConverter(copy_data=True),
    ):
        with pytest.raises(NotImplementedError, match="MetaConverter"):
            call()


def test_a_storage_that_is_gone_has_no_owners_to_count():
    with pytest.raises(RuntimeError, match="no storage is alive"):
        mt._C._storage_Use_Count(12345)


@pytest.mark.parametrize("T", [mt, torch], ids=["ours", "torch"])
def test_a_profiler_is_switched_off_inside_of_its_block(T):
    with T.autograd.profiler.profile():
        T.ones(3) + 1
        assert T.autograd._profiler_enabled()
        result = T.autograd._disable_profiler()
        assert not T.autograd._profiler_enabled()
        T.zeros(3) * 2
    names = [event.name() for event in result.events()]
    assert "aten::add" in names
    assert "aten::mul" not in names
    add = next(event for event in result.events() if event.name() == "aten::add")
    assert add.start_ns() >= result.trace_start_ns() > 10**18
    assert add.duration_ns() == add.end_ns() - add.start_ns() > 0
    assert not add.is_user_annotation()
    assert not T.autograd._profiler_enabled()
    with pytest.raises(TypeError, match=r"torch._C._autograd._ProfilerResult: No constructor defined!"):
        type(result)()


def test_a_profiler_that_does_not_run_is_told_of(capfd):
    assert mt.autograd._disable_profiler().events() == []
    assert "no active profiling session" in capfd.readouterr().err


def test_a_recording_stopped_by_hand_leaves_the_one_that_began_after_it(tmp_path):
    with mt.autograd.profiler.profile():
        result = mt.autograd._disable_profiler()
        other = mt.autograd.profiler.profile().__enter__()
    mt.ones(2) * 3
    other.__exit__(None, None, None)
    assert "aten::mul" in [event.name for event in other.function_events]
    result.save(str(tmp_path / "trace.json"))
    assert '"traceEvents"' in (tmp_path / "trace.json").read_text()
