"""Return codes and the error made of them."""

import pickle

import pytest

from mindtorch_npu.acl import codes
from mindtorch_npu.acl.errors import AclError, check


def test_every_code_of_the_table_has_a_name_and_a_meaning():
    known = codes.known_codes()
    assert len(known) == 277
    names = [codes.lookup(code).name for code in known]
    assert len(set(names)) == len(names)
    assert all(name.startswith("ACL") for name in names)
    for code in known:
        meaning = codes.lookup(code).meaning
        assert "not of the form" not in meaning
        assert not meaning.startswith("acl")


@pytest.mark.parametrize(
    ("code", "name", "meaning"),
    [
        (0, "ACL_SUCCESS", "success"),
        (107002, "ACL_ERROR_RT_CONTEXT_NULL", "context null (caller error, runtime)"),
        (207001, "ACL_ERROR_RT_MEMORY_ALLOCATION", "memory allocation (resource error, runtime)"),
        (161002, "ACLNN_ERR_PARAM_INVALID", "param invalid (caller error, aclnn operators)"),
        (507999, None, "not in the table of this version (internal error, runtime)"),
        (-1, None, "not in the table of this version (not of the form of ACL's codes)"),
        (7, None, "not in the table of this version (not of the form of ACL's codes)"),
    ],
)
def test_lookup(code, name, meaning):
    known = codes.lookup(code)
    assert (known.code, known.name, known.meaning) == (code, name, meaning)


def test_by_name():
    assert [code.code for code in codes.by_name("acl_error_rt_invalid_deviceid")] == [107001]
    assert {code.code for code in codes.by_name("AICORE_TRAP")} >= {507016, 507042, 507043}
    assert codes.by_name("nothing called so") == []


def test_explain_line_takes_codes_only():
    assert codes.explain_line("pid 1234567, 0.107001, 107001abc, retries 42") == []
    assert codes.explain_line("[PID:1] ret=107002.")[0].startswith("107002 ACL_ERROR_RT_CONTEXT_NULL: context null")
    assert codes.explain_line("EE1001: x EE9999: y EH0001") == [
        "EE1001: runtime, caused by the caller",
        "EE9999: runtime",
        "EH0001: host interface",
    ]


def test_error_text_and_attributes():
    error = AclError(107001, "acl.rt.set_device(99)", "EE1001: invalid device\n")
    assert isinstance(error, RuntimeError)
    assert (error.code, error.name) == (107001, "ACL_ERROR_RT_INVALID_DEVICEID")
    assert error.meaning == "invalid deviceid (caller error, runtime)"
    assert str(error) == (
        "acl.rt.set_device(99) failed with 107001 ACL_ERROR_RT_INVALID_DEVICEID: "
        "invalid deviceid (caller error, runtime)\n"
        "Device id outside 0..count-1 as re-indexed by ASCEND_RT_VISIBLE_DEVICES.\n"
        "The runtime says: EE1001: invalid device"
    )


def test_error_of_an_unknown_code():
    error = AclError(507999, "acl.rt.x()")
    assert (error.name, error.hint, error.detail) == (None, None, None)
    assert str(error) == (
        "acl.rt.x() failed with 507999 (unknown code): not in the table of this version (internal error, runtime)"
    )


def test_error_survives_pickling():
    error = pickle.loads(pickle.dumps(AclError(207001, "acl.rt.malloc(1)", "no memory")))
    assert (error.code, error.call, error.detail) == (207001, "acl.rt.malloc(1)", "no memory")


def test_check_fetches_the_message_of_the_vendor(fake_acl, monkeypatch):
    check(0, "acl.init()", fake_acl)
    monkeypatch.setenv("ACL_COUNT_CODE", "507033")
    _, code = fake_acl.rt.get_device_count()
    with pytest.raises(AclError, match="The runtime says: EL0004: the driver said no"):
        check(code, "acl.rt.get_device_count()", fake_acl)
    assert fake_acl.get_recent_err_msg() is None
    with pytest.raises(AclError) as caught:
        check(code, "acl.rt.get_device_count()")
    assert caught.value.detail is None
