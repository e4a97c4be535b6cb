"""Formats of torch_npu as advice, weak tensors, options of joined kernels, and its paths."""

from __future__ import annotations

import copy
import os

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
import mindtorch._torch_npu as torch_npu  # noqa: E402
from mindtorch._torch_npu._C import _weak_ref_tensor  # noqa: E402
from mindtorch._torch_npu.utils._path_manager import PathManager  # noqa: E402
from mindtorch_npu import graph_options  # noqa: E402

Format = torch_npu.Format


@pytest.fixture
def internal(npu):
    torch.npu.config.allow_internal_format = True
    yield
    torch.npu.config.allow_internal_format = False


def test_a_tensor_tells_what_it_was_cast_to(internal):
    x = torch.ones(2, 2, device="npu", requires_grad=True)
    y = torch_npu.npu_format_cast(x, Format.FRACTAL_NZ)
    assert [torch_npu.get_npu_format(one) for one in (x, y)] == [Format.ND, Format.FRACTAL_NZ]
    assert y.data_ptr() == x.data_ptr()
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    z = torch.ones(2, 2, device="npu")
    assert torch_npu.npu_format_cast_(z, 0) is z
    assert torch_npu.get_npu_format(z) == Format.NCHW == 0
    assert torch_npu.get_npu_format(torch_npu.empty_with_format((2, 2), acl_format=29)) == 29
    assert str(Format.FRACTAL_NZ) == "FRACTAL_NZ"


def test_a_copy_keeps_the_format(internal):
    x = torch_npu.npu_format_cast(torch.rand(3, 3).npu(), 29)
    y = copy.deepcopy(x)
    assert torch_npu.get_npu_format(y) == 29
    assert torch.equal(x, y)
    assert x.data_ptr() != y.data_ptr()


def test_formats_of_the_chip_need_leave(npu):
    x = torch.ones(2, 2, device="npu")
    assert torch_npu.get_npu_format(torch_npu.npu_format_cast(x, 29)) == Format.ND
    assert torch_npu.get_npu_format(torch_npu.npu_format_cast(x, 1)) == Format.NHWC
    with pytest.raises(ValueError, match="there is no format 77"):
        torch_npu.npu_format_cast(x, 77)


def test_a_weak_tensor_has_the_memory_and_keeps_none(npu):
    base = torch.arange(600, dtype=torch.float32).npu()
    view = base.as_strided((2, 1, 8), (192, 0, 3), 128)
    weak = _weak_ref_tensor(view)
    assert (weak.shape, weak.stride(), weak.storage_offset()) == (view.shape, view.stride(), 128)
    assert weak.untyped_storage().nbytes() == view.untyped_storage().nbytes()
    assert torch.equal(weak, view)
    weak.fill_(7)
    assert (view == 7).all()
    before = torch.npu.memory_allocated()
    del weak
    assert torch.npu.memory_allocated() == before
    again = _weak_ref_tensor(base)
    del base, view
    assert torch.npu.memory_allocated() < before
    del again
    with pytest.raises(RuntimeError, match="Expected a tensor on NPU, got cpu"):
        _weak_ref_tensor(torch.ones(1))


WRONG = [
    ("optimize_options", "invalid", "param must be dict or None"),
    ("optimize_options", {"invalid_key": 1}, "no option 'invalid_key'"),
    ("optimize_options", {"preload_code": "x"}, "preload_code must be int, but got str"),
    ("optimize_options", {"opt_extend": 1}, "opt_extend must be str, but got int"),
    ("optimize_options", {"early_start": True}, "early_start must be int, but got bool"),
    ("optimize_options", {"dcci_after_kernel_end": 1}, "must be a list of str, but got int"),
    ("optimize_options", {"dcci_after_kernel_end": [1]}, "must be str, but got int"),
    ("optimize_options", {"aggressive_opt_strategies": 1}, "must be a dict, but got int"),
    ("optimize_options", {"aggressive_opt_strategies": {"task_breaker_bypass": ""}}, "must be int, but got str"),
    ("debug_options", {"split_mode": 1}, "no option 'split_mode'"),
    ("debug_options", {"debug_extend": 2}, "must be str, but got int"),
]


@pytest.mark.parametrize(("name", "options", "text"), WRONG)
def test_wrong_options_of_joined_kernels_are_refused(npu, name, options, text):
    with pytest.raises(RuntimeError, match=text) as caught:
        torch.npu.NPUGraph().super_kernel_optimize(**{name: options})
    assert caught.type is RuntimeError
    assert name in str(caught.value)


def test_options_that_could_be_taken_say_that_nothing_is_joined(npu):
    given = {key: 1 for key, kind in graph_options.OPTIMIZE.items() if kind is int}
    with pytest.raises(NotImplementedError, match="no function that joins"):
        torch.npu.NPUGraph().super_kernel_optimize(given, {"debug_extend": "x"})


def test_paths(tmp_path):
    folder, file = tmp_path / "a" / "b", tmp_path / "c"
    PathManager.make_dir_safety(str(folder))
    PathManager.make_dir_safety(str(folder))
    PathManager.create_file_safety(str(file))
    assert file.stat().st_mode & 0o777 == 0o640 & ~_mask()
    PathManager.check_input_directory_path(str(folder))
    PathManager.check_input_file_path(str(file))
    with pytest.raises(RuntimeError, match="is a directory path"):
        PathManager.check_input_file_path(str(folder))
    with pytest.raises(RuntimeError, match="is a file path"):
        PathManager.check_input_directory_path(str(file))
    with pytest.raises(RuntimeError, match="does not exist"):
        PathManager.check_directory_path_readable(str(tmp_path / "d"))
    with pytest.raises(RuntimeError, match="Failed to make directory"):
        PathManager.make_dir_safety(str(file))
    with pytest.raises(RuntimeError, match="Failed to remove file"):
        PathManager.remove_file_safety(str(folder))
    PathManager.remove_path_safety(str(tmp_path / "a"))
    PathManager.remove_file_safety(str(file))
    PathManager.remove_file_safety(str(file))
    assert not folder.exists()
    assert not file.exists()
    (tmp_path / "e").symlink_to(tmp_path)
    with pytest.warns(UserWarning, match="symbolic link"):
        PathManager.check_directory_path_writeable(str(tmp_path / "e"))
    with pytest.warns(UserWarning, match="Invalid input path: "):
        PathManager.check_input_file_path(str(tmp_path / "a|b"))


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
