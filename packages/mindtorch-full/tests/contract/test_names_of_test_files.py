"""What PyTorch's files of operator tests import and ask is there, and answers as torch's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


def _module(lib: Any, name: str) -> Any:
    return importlib.import_module(f"{lib.__name__}.{name}")


def _outcome(call: Any, lib: Any) -> Any:
    try:
        return str(call(lib))
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return type(error).__name__, str(error)


def _compared(lib: Any, one: Any, two: Any, **asked: Any) -> Any:
    return _module(lib, "_prims_common").compare_tensor_meta(one, two, **asked)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: _compared(lib, lib.ones(2), lib.zeros(2)),
        lambda lib: _compared(lib, lib.ones(2), lib.zeros(3)),
        lambda lib: _compared(lib, lib.ones(2), lib.zeros(3), check_sizes=False),
        lambda lib: _compared(lib, lib.ones(2), lib.zeros(2).int()),
        lambda lib: _compared(lib, lib.ones(2), lib.zeros(2, device="meta")),
        lambda lib: _compared(lib, lib.ones(2, 3), lib.zeros(3, 2).t()),
        lambda lib: _compared(lib, lib.ones(2, 3), lib.zeros(3, 2).t(), check_strides=True),
        lambda lib: _compared(lib, lib.ones(3)[1:], lib.zeros(2), check_strides=True),
        lambda lib: _compared(lib, lib.ones(2).cfloat(), lib.zeros(2).cfloat().conj()),
        lambda lib: _compared(lib, lib.ones(2).cfloat(), lib.zeros(2).cfloat().conj(), check_conj=False),
        lambda lib: _compared(lib, lib.ones(2), lib.zeros(2)._neg_view()),
        lambda lib: _compared(lib, 1, lib.zeros(2)),
    ],
)
def test_tensors_that_differ_in_what_is_known_of_them_are_told(call: Any) -> None:
    assert _outcome(call, mt) == _outcome(call, torch)


def _with_bits(lib: Any) -> list[Any]:
    given, seen = lib.tensor([1 + 2j]), []
    for change, value in (("_set_conj", True), ("_set_neg", True), ("_set_conj", False), ("_set_neg", False)):
        getattr(lib._C, change)(given, value)
        seen.append((given.tolist(), given.is_conj(), given.is_neg()))
    real = lib.ones(2)
    lib._C._set_neg(real, True)
    lib._C._set_conj(real, False)
    return [*seen, real.tolist(), (real + 0).tolist()]


def test_bits_are_set_on_a_tensor_itself() -> None:
    assert _with_bits(mt) == _with_bits(torch)
    with pytest.raises(RuntimeError):
        mt._C._set_conj(mt.ones(2), True)


def _conjugates(lib: Any) -> list[Any]:
    real, made = lib.ones(2), lib.tensor([1 + 2j], requires_grad=True)
    copied = lib.ops.aten._conj_physical(real)
    conjugated = lib.ops.aten._conj_physical.default(made)
    (conjugated * 1j).real.sum().backward()
    return [
        copied.data_ptr() == real.data_ptr(),
        copied.tolist(),
        conjugated.tolist(),
        conjugated.is_conj(),
        made.grad.tolist(),
    ]


def test_conjugates_are_copied_of_real_tensors_too() -> None:
    assert _conjugates(mt) == _conjugates(torch)


def test_composed_overloads_are_known() -> None:
    names = (
        "matmul.default mm.default add.Tensor linear.default relu.default layer_norm.default reshape.default".split()
    )

    def known(lib: Any) -> list[bool]:
        ask = _module(lib, "_export.utils")._is_cia_op
        return [ask(getattr(getattr(lib.ops.aten, one.partition(".")[0]), one.partition(".")[2])) for one in names]

    assert known(mt) == known(torch)
    settings = [_module(lib, "_dynamo.config") for lib in (mt, torch)]
    for name in ("fake_tensor_cache_enabled", "fake_tensor_cache_crosscheck_enabled"):
        assert getattr(settings[0], name) == getattr(settings[1], name)


def test_types_of_schemas_are_those_of_annotations() -> None:
    def found(lib: Any) -> list[str]:
        turn = _module(lib, "fx.operator_schemas")._torchscript_type_to_python_type
        arguments = lib.ops.aten.index_add.default._schema.arguments + lib.ops.aten.sum.dim_IntList._schema.arguments
        return [getattr(turn(one.type), "__name__", str(turn(one.type))) for one in arguments]

    assert found(mt) == found(torch)


VALUES = """
lib.ones(2); 1; 1.5; True; "a"; None; 1j; lib.device("cpu"); lib.float32; lib.strided; [1, 2]; [1, 2.5]; []; [lib.ones(1)]
(1, "a"); (); {"a": 1}; {}; [None, 1]; [1, None, 2]; [[1], [2]]; lib.Size([1, 2]); slice(1); ...; lib.Generator()
lib.nn.Linear(1, 1); {1: 2, "a": 3}; [True, False]; [1, True]; (lib.ones(1), lib.ones(2)); {"a": lib.ones(1)}; int
[[], [1]]; [None]; (1, (2, [3.5])); {"a": None, "b": 1}; [(1, 2), (1, 2.0)]; [None, None]; lib.contiguous_format; {"a": []}; set()
"""


@pytest.mark.parametrize("text", [one.strip() for one in VALUES.replace("\n", ";").split(";") if one.strip()])
def test_values_have_the_types_of_torchs_tracer(text: str) -> None:
    def found(lib: Any) -> Any:
        made = lib._C._jit_try_infer_type(eval(text, {"lib": lib}))
        return str(made.type()) if made.success() else made.reason().replace("mindtorch", "torch")

    assert found(mt) == found(torch)
