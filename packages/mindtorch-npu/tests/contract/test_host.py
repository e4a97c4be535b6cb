"""What a real host asks for: the right libraries, determinism, errors where they are caused, limits, and an orderly end."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import AclError, runtime, stream, switches  # noqa: E402
from mindtorch_npu.libraries import Libraries  # noqa: E402


@pytest.fixture
def compiler():
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("no C compiler")
    return found


def library(compiler, file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    source = file.with_suffix(".c")
    source.write_text(text)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(file), str(source)], check=True)


def test_only_the_active_installation_is_loaded_and_the_users_operators_come_first(compiler, tmp_path):
    root, other, own = tmp_path / "cann-9", tmp_path / "cann-8", tmp_path / "custom"
    library(compiler, root / "lib64" / "libopapi.so", "int aclnnA(void){return 1;} int aclnnB(void){return 1;}")
    library(compiler, other / "lib64" / "libopapi.so", "int aclnnOld(void){return 1;}")
    library(compiler, own / "op_api" / "lib" / "libcust_opapi.so", "int aclnnA(void){return 2;}")
    (root / "lib64" / "libopapi_broken.so").write_text("no library")
    found = Libraries(
        {"ASCEND_HOME_PATH": str(root), "ASCEND_TOOLKIT_HOME": str(other), "ASCEND_CUSTOM_OPP_PATH": str(own)}
    )
    assert found.address("aclnnB")
    assert found.address("aclnnOld") is None
    assert found.address("aclnnA") != Libraries({"ASCEND_HOME_PATH": str(root)}).address("aclnnA")
    assert [Path(name).name for name in found.unreadable] == ["libopapi_broken.so"]


def test_no_library_at_all_is_an_error_that_says_why(tmp_path):
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64" / "libopapi.so").write_text("no library")
    with pytest.raises(
        RuntimeError, match=r"no operator library under .*libopapi\.so: .*invalid ELF header|file too short"
    ):
        Libraries({"ASCEND_HOME_PATH": str(tmp_path)})


@pytest.fixture
def indeterminate():
    yield
    mindtorch.use_deterministic_algorithms(False)


def test_determinism_reaches_every_device(npu, indeterminate):
    mindtorch.ones(2, device="npu:0")
    mindtorch.use_deterministic_algorithms(True)
    assert npu.options[0] == 1
    npu.options.clear()
    mindtorch.ones(2, device="npu:1")  # a device that was not in use before
    assert npu.options[0] == 1
    mindtorch.use_deterministic_algorithms(False)
    assert npu.options[0] == 0


def test_an_error_of_the_device_names_the_operators(npu):
    x = mindtorch.ones(2, device="npu")
    npu.faults.add("run.aclnnExp", 507015)
    x.exp()
    x.neg()
    with pytest.raises(AclError, match=r"Launched last: .*aclnnExp, aclnnNeg") as caught:
        mindtorch.npu.synchronize()
    assert caught.value.code == 507015
    npu.forget_errors(0)


def test_blocking_launches_raise_where_the_error_is(npu, monkeypatch):
    monkeypatch.setattr(switches, "blocking", True)
    x = mindtorch.ones(2, device="npu")
    npu.faults.add("run.aclnnExp", 507015)
    with pytest.raises(AclError, match=r"^aclnnExp failed with 507015"):
        x.exp()
    npu.forget_errors(0)


def test_time_limits_of_operators(npu):
    runtime.init()
    switches.set_op_timeout_ms(1500)
    assert npu.options[-1] == 1_500_000
    with pytest.raises(ValueError, match="not positive"):
        switches.set_op_timeout_ms(0)


def test_older_versions_make_plain_streams(npu, monkeypatch):
    acl = runtime.init()
    monkeypatch.delattr(acl.rt, "create_stream_with_config")
    made = stream.Stream()
    assert made.npu_stream in npu.streams


def test_devices_are_given_back_at_the_end(npu):
    mindtorch.ones(2, device="npu:1")
    assert runtime.opened()[-1] == 1
    runtime._finalize()
    assert not any(npu.set_counts.values())
    assert npu.finalized
