"""Storages, wrappers and masked reductions of sparse tensors as PyTorch's own tests use them, each beside torch."""

from __future__ import annotations

import gc
import io
import warnings
import weakref

import pytest

import mindtorch
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

SAME = (
    "T.masked._where(M.to_sparse(2), X.to_sparse(2), T.tensor(9.)).to_dense()",
    "T.masked._where(M.to_sparse(1), X.to_sparse(1), T.tensor(9.)).to_dense()",
    "T.masked._where(M.to_sparse_csr(), X.to_sparse_csr(), T.tensor(9.)).to_dense()",
    "T.masked.sum(X.to_sparse(), 1).to_dense()",
    "T.masked.sum(X.to_sparse_csr(), 1, keepdim=True).to_dense()",
    "T.masked.mean(X.to_sparse_csr(), 0, keepdim=True, mask=T.ones_like(M)).to_dense()",
    "T.masked.mean(X, 1, mask=M.to_sparse_csr())",
    *(
        f"T.masked.{name}(X.to_sparse({sparse}), {dims}, mask=M, keepdim={kept}).to_dense()"
        for name in ("sum", "prod", "amax", "amin")
        for sparse in (1, 2)
        for dims in (0, 1, (0, 1))
        for kept in (False, True)
        if name == "sum" or sparse == 2 or dims == 0  # torch returns NotImplemented for the dense dimensions of others
    ),
    "T.FloatStorage.dtype.itemsize",
    "len(T._storage_classes)",
    "sorted(str(kind) for kind in T._tensor_classes)",
)
ERRORS = (
    "T._C.StorageBase()",
    "T.storage._LegacyStorage()",
    "T.FloatStorage(nothing=1)",
    "T.TypedStorage([1, 2], device='meta', dtype=T.int)._share_fd_cpu_()",
    "T.TypedStorage([1, 2], device='meta', dtype=T.int)._share_filename_cpu_()",
    "T.UntypedStorage(3, device='meta')._write_file(I(), False, True, 1)",
    "T.UntypedStorage(3)._set_from_file(I(b'1'), None, False, 1)",
    "T.UntypedStorage(3)._set_from_file(I(b'1'), 0, False, 1)",
    "T.UntypedStorage(3)._set_from_file(I(bytes(16)), None, False, 1)",
    "T.cuda.FloatStorage._new_with_weak_ptr()",
    "T.cuda.FloatStorage._new_shared_filename(0, 0, 0)",
    "T.masked.prod(X.to_sparse(), 1)",
    "T.masked.amin(X.to_sparse_csr(), 1, keepdim=True)",
    "T.masked.sum(X.to_sparse_csr(), 1)",
    "T.masked.amax(X.to_sparse_csr(), 1, mask=M)",
    "T.masked.mean(X.to_sparse(), 1, mask=M)",
    "T.masked.var(X.to_sparse(), 1)",
    "T.masked.softmax(X.to_sparse(), 1)",
    "T.testing.assert_close(X.to_sparse_csr(), (X * 2).to_sparse_csr())",
    "T.testing.assert_close(X.to_sparse_csc(), X.T.to_sparse_csc().transpose(0, 1).to_sparse_csc() * 3)",
    "T.testing.assert_close(X.to_sparse(1), X.to_sparse(2))",
)


def evaluated(text, library):
    values = library.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    mask = library.tensor([[True, False, True], [True, False, False]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, {"T": library, "X": values, "M": mask, "I": io.BytesIO})


@pytest.mark.parametrize("text", SAME)
def test_values_are_those_of_torch(text):
    ours, theirs = evaluated(text, mindtorch), evaluated(text, torch)
    if isinstance(theirs, torch.Tensor):
        assert_same_value(lambda: ours, lambda: theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("text", ERRORS)
def test_refusals_are_those_of_torch(text):
    assert_torch_error(lambda: evaluated(text, mindtorch), lambda: evaluated(text, torch))


class Mark:
    """Something to note at an object."""


@pytest.mark.parametrize("library", [mindtorch, torch], ids=["ours", "torch"])
def test_a_storage_keeps_what_is_noted_at_it_as_long_as_a_tensor_uses_it(library):
    tensor = library.zeros(3)
    mark = Mark()
    alive = weakref.ref(mark)
    tensor.untyped_storage().mark = mark
    del mark
    gc.collect()
    assert tensor.untyped_storage().mark is alive()
    del tensor
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("library", [mindtorch, torch], ids=["ours", "torch"])
def test_a_class_below_the_base_of_storages_takes_arguments_and_has_slots(library):
    class Own(library._C.StorageBase):
        __slots__ = ("note",)

    class Further(Own):
        __slots__ = ("other",)

    made = Further(library.UntypedStorage(2))
    made.note, made.other = 1, 2
    assert (made.note, made.other) == (1, 2)


@pytest.mark.parametrize("library", [mindtorch, torch], ids=["ours", "torch"])
def test_a_class_of_tensors_below_one_with_slots_is_made_from_data(library):
    class Own(library.Tensor):
        __slots__ = ("note",)

    class Further(Own):
        pass

    made = Further([1.0, 2.0])
    made.note = 3
    assert made.note == 3
    assert type(made) is Further


def test_a_storage_is_written_to_a_file_as_torch_writes_it():
    written = []
    for library in (mindtorch, torch):
        stream = io.BytesIO()
        library.UntypedStorage([1, 2, 3, 4])._write_file(stream, False, True, 2)
        written.append(stream.getvalue())
        stream.seek(0)
        assert library.UntypedStorage(4)._set_from_file(stream, None, False, 2).tolist() == [1, 2, 3, 4]
    assert written[0] == written[1]


def wrapper_class(library, policy):
    class Wrapper(library.Tensor):
        def __new__(cls, inner):
            return library.Tensor._make_wrapper_subclass(cls, inner.size(), dispatch_sizes_strides_policy=policy)

        def __init__(self, inner):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*(one.inner if isinstance(one, cls) else one for one in args), **(kwargs or {}))

    return Wrapper


@pytest.mark.parametrize("library", [mindtorch, torch], ids=["ours", "torch"])
@pytest.mark.parametrize("policy", ["sizes", "strides"])
def test_a_class_that_is_asked_for_its_geometry_overrides_no_method(library, policy):
    kind = wrapper_class(library, policy)
    made = kind(library.ones(2, 3))
    assert made.size() == (2, 3)
    assert made.stride() == (3, 1)
    for name in ("size", "stride", "dtype", "layout", "device", "requires_grad"):
        assert getattr(kind, name) is getattr(library.Tensor, name)


class Kept(mindtorch.Tensor):
    """A wrapper that can be pickled."""

    @staticmethod
    def __new__(cls, inner):
        return mindtorch.Tensor._make_wrapper_subclass(cls, inner.size())

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*(one.inner if isinstance(one, cls) else one for one in args), **(kwargs or {}))


def test_a_tensor_without_memory_is_saved_as_its_class_and_geometry():
    stream = io.BytesIO()
    mindtorch.save(Kept(mindtorch.arange(3.0)), stream)
    stream.seek(0)
    with mindtorch.serialization.safe_globals([Kept]):
        loaded = mindtorch.load(stream)
    assert type(loaded) is Kept
    assert loaded.inner.tolist() == [0.0, 1.0, 2.0]
    assert loaded.shape == (3,)
