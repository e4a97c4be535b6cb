"""What a real host asks for: the right libraries, determinism, errors where they are caused, limits, and an orderly end."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import AclError, runtime, simulator, stream, switches  # noqa: E402
from mindtorch_npu.acl.missing import CAME_LATER, HAD, MissingFunctionError  # noqa: E402
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


def test_events_and_streams_go_before_the_devices(npu):
    kept, made = stream.Event(), stream.Stream()
    kept.record(made)
    x = mindtorch.ones(2, device="npu")
    with stream.stream(made):
        x.record_stream(made)
    own = stream.default_stream().npu_stream
    del x  # its memory waits for an event
    runtime._finalize()
    assert not npu.events
    assert not {own, made.npu_stream} & set(npu.streams)
    assert kept.npu_event == 0


def test_someone_elses_device_is_as_often_set_as_before(npu):
    acl = simulator.load()
    assert (acl.init(), acl.rt.set_device(0)) == (0, 0)
    before = dict(npu.set_counts)
    mindtorch.ones(2, device="npu:1") + mindtorch.ones(2, device="npu:1")
    thread = threading.Thread(target=lambda: mindtorch.ones(2, device="npu:0"))
    thread.start(), thread.join()
    runtime._finalize()
    assert {device: count for device, count in npu.set_counts.items() if count} == before
    assert not npu.finalized


def test_a_device_that_was_lost_does_not_keep_the_others(npu):
    for index in (0, 1):
        stream.Stream(index)
    npu.lost.add(0)
    runtime._finalize()
    assert not any(npu.set_counts.values())
    assert npu.finalized


@pytest.mark.parametrize(
    ("name", "call", "since"),
    [
        ("get_device_utilization_rate", lambda acl: acl.rt.get_device_utilization_rate(0), "CANN 8.1.RC1 and later"),
        ("malloc_physical", lambda acl: acl.rt.malloc_physical(1, {}, 0), "CANN 8.1.RC1 and later"),
        ("device_get_uuid", lambda acl: acl.rt.device_get_uuid(0), "versions of CANN after 8.1.RC1"),
    ],
)
def test_a_function_that_an_older_pyacl_lacks_is_named(npu, monkeypatch, name, call, since):
    acl = runtime.init()
    monkeypatch.delattr(acl.rt, name)
    with pytest.raises(
        MissingFunctionError, match=rf"^acl\.rt\.{name} is not in the pyACL of this host: {since} have it"
    ):
        call(acl)
    assert not hasattr(acl.rt, name)
    with pytest.raises(AttributeError, match=r"^module 'acl\.rt' has no attribute 'no_such'$"):
        acl.rt.no_such()


def test_every_function_that_is_called_is_known_to_a_version():
    folder = Path(runtime.__file__).parent
    sources = [file.read_text() for file in folder.rglob("*.py") if "simulator" not in file.parts]
    called = {name for text in sources for name in re.findall(r"\bacl\.((?:rt\.)?[a-z_0-9]+)\(", text)}
    assert "rt.malloc" in called
    assert called <= HAD | CAME_LATER


def test_a_pyacl_of_few_functions_still_computes(npu, monkeypatch):
    acl = runtime.init()
    for name in ("create_stream_with_config", "create_event_ex_with_flag", "malloc_align32", "device_can_access_peer",
                 "ctx_set_sys_param_opt", "device_get_uuid", "set_op_execute_timeout_v2"):  # fmt: skip
        monkeypatch.delattr(acl.rt, name)
    x = mindtorch.ones(2, device="npu")
    other = stream.Stream()
    with stream.stream(other):
        y = x + x
        y.record_stream(other)
    mindtorch.npu.current_stream().wait_stream(other)
    assert y.cpu().tolist() == [2.0, 2.0]
    mindtorch.npu.get_device_properties(0)
