"""Binding by schema against torch: signatures, their order, and the texts of errors for wrong calls."""

from __future__ import annotations

import importlib
import random
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindtorch_dispatch.arguments import ArgumentParser, bind_overload
from mindtorch_dispatch.arguments.signature import sort_text
from mindtorch_dispatch.schema import parse_schema
from mindtorch_storage import dtype as dtypes
from mindtorch_storage import layout as layouts
from mindtorch_storage.device import device
from mindtorch_storage.size import Size

from .tensors import Parameter, tensor

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("yaml", reason="torchgen reads yaml")

FUNCTIONS = {
    "torch": torch._C._VariableFunctions,
    "fft": torch._C._fft,
    "linalg": torch._C._linalg,
    "nn": torch._C._nn,
    "special": torch._C._special,
}


@pytest.fixture(scope="module")
def bindings() -> dict[str, dict[str, list[Any]]]:
    """Module (or "method") to name to the overload groups torch generates its Python bindings from."""
    torchgen = importlib.import_module("torchgen")
    packaged = Path(torchgen.__file__).parent / "packaged"
    sys.path.insert(0, str(packaged))
    try:
        python = importlib.import_module("autograd.gen_python_functions")
        native = packaged / "ATen" / "native"
        parsed = importlib.import_module("torchgen.gen").parse_native_yaml(
            str(native / "native_functions.yaml"), str(native / "tags.yaml")
        )
        functions = [f for f in parsed.native_functions if python.should_generate_py_binding(f)]
        found = {}
        for module in ("method", *FUNCTIONS):
            names = {"method": "is_py_variable_method", "torch": "is_py_torch_function"}
            accept = getattr(python, names.get(module, f"is_py_{module}_function"))
            pairs = python.load_signatures(
                functions, str(packaged / "autograd" / "deprecated.yaml"), method=module == "method"
            )
            grouped = python.group_filter_overloads(pairs, accept)
            found[module] = {str(name): python.group_overloads(group) for name, group in grouped.items()}
        return found
    finally:
        sys.path.remove(str(packaged))


def parser_of(module: str, name: str, groups: list[Any]) -> ArgumentParser:
    """Our parser, made from the schemas of the same overloads."""
    overloads = [
        (parse_schema(str(g.base.func)), parse_schema(str(g.outplace.func)) if g.outplace else None)
        for g in groups
        if not g.signature.deprecated
    ]
    return ArgumentParser(name, overloads, is_method=module == "method")


def test_signatures_and_their_order_are_torchs(bindings):
    different, count = [], 0
    for module, names in bindings.items():
        for name, groups in names.items():
            count += 1
            texts = [(g.signature.deprecated, g.signature.signature_str()) for g in groups]
            expected = [text for old, text in texts if not old] + [text for old, text in texts if old]
            if [sort_text(s) for s in parser_of(module, name, groups).signatures] != expected:
                different.append((module, name))
    assert count > 1600
    assert different == []


OBJECT = object()


def make_values() -> dict[str, tuple[Any, Any]]:
    """Named argument values: torch's object and ours. Made anew for each call, because calls write into them."""
    ones = np.ones((2, 3), np.float32)
    values = {
        "matrix": (torch.ones(2, 3), tensor(ones)),
        "indices": (torch.zeros(3, dtype=torch.int64), tensor(np.zeros(3, np.int64))),
        "float_0d": (torch.tensor(1.5), tensor(np.float32(1.5))),
        "int_0d": (torch.tensor(1), tensor(np.int64(1))),
        "bool_0d": (torch.tensor(True), tensor(np.bool_(True))),
        "grad_0d": (torch.tensor(1.5, requires_grad=True), tensor(np.float32(1.5), True)),
        "parameter": (torch.nn.Parameter(torch.ones(2, 3)), tensor(ones, True, Parameter)),
        "dtype": (torch.float32, dtypes.float32),
        "device": (torch.device("cpu"), device("cpu")),
        "layout": (torch.strided, layouts.strided),
        "memory_format": (torch.contiguous_format, layouts.contiguous_format),
        "size": (torch.Size([2, 3]), Size([2, 3])),
        "tensors": ([torch.ones(2, 3)] * 2, [tensor(ones)] * 2),
        "tensor_tuple": ((torch.ones(2, 3),) * 2, (tensor(ones),) * 2),
        "not_all_tensors": ([torch.ones(2, 3), 1], [tensor(ones), 1]),
    }
    plain: list[Any] = [
        1, 0, -1, 1.5, True, 1j, "x", None, [0, 1], (1,), ["x"], [0, "x"], (), [1.0, 2.0], [True], {}, OBJECT,
        np.float32(1), np.int64(1), np.bool_(True), np.ones(2),
    ]  # fmt: skip
    return values | {repr(value): (value, value) for value in plain}


VALUE_NAMES = list(make_values())
FITTING = {
    "Tensor": ["matrix", "matrix", "parameter", "int_0d"],
    "Tensor[]": ["tensors", "tensor_tuple"],
    "Tensor?[]": ["tensors"],
    "Scalar": ["1", "1.5"],
    "Scalar[]": ["[1.0, 2.0]", "[0, 1]"],
    "int": ["0", "1", "int_0d"],
    "SymInt": ["0", "1"],
    "int[]": ["[0, 1]", "(1,)", "1"],
    "SymInt[]": ["[0, 1]", "(1,)", "size", "1"],
    "float": ["1.5", "1"],
    "float[]": ["[1.0, 2.0]"],
    "bool": ["True"],
    "ScalarType": ["dtype"],
    "Device": ["device"],
    "Layout": ["layout"],
    "MemoryFormat": ["memory_format"],
    "str": ["'x'"],
    "Generator": ["None"],
}
KEYWORDS = [
    "input",
    "self",
    "dim",
    "axis",
    "keepdim",
    "out",
    "dtype",
    "alpha",
    "other",
    "foo",
    "size",
    "x",
    "generator",
]
Call = tuple[list[str], dict[str, str]]


def wrong_call(rng: random.Random, parameters: list[tuple[str, str, bool, bool]]) -> Call:
    """A call of the given (kind, name, optional, keyword-only) parameters with some mistakes, by value names."""
    args: list[str] = []
    kwargs: dict[str, str] = {}
    for kind, name, optional, keyword_only in parameters:
        if optional and rng.random() < 0.7:
            continue
        value = rng.choice(FITTING.get(kind, VALUE_NAMES))
        if keyword_only or kwargs or rng.random() < 0.15:
            kwargs[name] = value
        else:
            args.append(value)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        kind = rng.random()
        anything = rng.choice(VALUE_NAMES)
        if kind < 0.5 and args:
            args[rng.randrange(len(args))] = anything
        elif kind < 0.6 and kwargs:
            kwargs[rng.choice(list(kwargs))] = anything
        elif kind < 0.7 and args:
            args.pop(rng.randrange(len(args)))
        elif kind < 0.8:
            args.insert(rng.randrange(len(args) + 1), anything)
        else:
            kwargs[rng.choice(KEYWORDS)] = anything
    return args, kwargs


def outcomes(theirs: Any, ours: Any, call: Call, self_name: str | None) -> tuple[str | None, str | None]:
    """The error texts of torch's call and of our binding."""
    texts: list[str | None] = []
    values = make_values()
    for side, function in enumerate((theirs, ours)):
        names = [*([self_name] if self_name else []), *call[0]]
        args = [values[name][side] for name in names]
        kwargs = {name: values[value][side] for name, value in call[1].items()}
        try:
            function(args, kwargs)
        except Exception as error:  # noqa: BLE001 (any error is an outcome)
            texts.append(f"{type(error).__name__}: {error}")
        else:
            texts.append(None)
    return texts[0], texts[1]


BINDING_ERROR = re.compile(
    r"TypeError.*(argument '|takes |missing \d|unexpected keyword|multiple values|invalid combination|"
    r"expected Tensor as element|expected tuple of|failed to unpack|invalid keyword)"
)
# Ops whose call with odd values writes files, crashes or takes long in torch itself.
UNSAFE = re.compile(
    r"^_|cudnn|miopen|mkldnn|fbgemm|quantiz|nested|sparse|fake_|rnn|lstm|gru|sym_|hspmm|cuda|set_|resize|mps|backward|"
    r"from_file|storage|record|retain|philox|is_|_copy$|combinations|unsafe|smm|coalesce|ccol|crow|indices|values|"
    r"vander|q_|int_repr|dequant|requires_grad_|data|constant_pad|window|space$|empty|slice|bincount"
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_wrong_calls_give_torchs_error(bindings, seed):
    rng = random.Random(seed)
    pool = [
        (module, name)
        for module, names in bindings.items()
        for name in names
        if not UNSAFE.search(name) and (module != "method" or name not in vars(torch.Tensor))
    ]
    compared, different = 0, []
    for _ in range(1500):
        module, name = rng.choice(pool)
        parser = parser_of(module, name, bindings[module][name])
        signature = rng.choice(parser.signatures)
        call = wrong_call(rng, [(p.kind, p.name, p.optional, p.keyword_only) for p in signature.parameters])
        is_method = module == "method"

        def theirs(args, kwargs, module=module, name=name, is_method=is_method):
            # A method is called as a program does, through its class: a bound one says Tensor for TensorBase.
            if is_method:
                return getattr(torch.Tensor, name)(args.pop(0).clone(), *args, **kwargs)
            return getattr(FUNCTIONS[module], name)(*args, **kwargs)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, mine = outcomes(theirs, parser.parse, call, "matrix" if is_method else None)
        if expected is not None and "INTERNAL ASSERT" in expected:
            continue  # a bool tensor as a size: torch names its own source file
        if expected is not None and not BINDING_ERROR.search(expected):
            expected = None if mine is None else expected  # an error of the operator itself, after binding
        compared += expected is not None
        if expected != mine:
            different.append((module, name, call, expected, mine))
    assert compared > 1000
    assert different == []


CURATED = [
    (torch.add, "add", [], {}),
    (torch.add, "add", ["'x'", "1"], {}),
    (torch.add, "add", ["matrix", "'x'"], {}),
    (torch.add, "add", ["matrix", "parameter", "'x'"], {}),
    (torch.add, "add", [], {"input": "matrix", "foo": "1", "alpha": "1"}),
    (torch.add, "add", ["matrix"], {"x2": "matrix"}),
    (torch.sum, "sum", ["matrix", "'x'"], {}),
    (torch.sum, "sum", ["matrix", "[0, 'x']"], {}),
    (torch.sum, "sum", ["matrix", "0"], {"dim": "1"}),
    (torch.sum, "sum", ["matrix", "1"], {"foo": "1", "bar": "1", "keepdim": "True", "dtype": "1"}),
    (torch.std, "std", [], {"input": "matrix", "dim": "'x'", "keepdim": "1", "unbiased": "1", "correction": "1",
                            "out": "1", "foo": "1"}),
    (torch.cat, "cat", ["not_all_tensors"], {}),
    (torch.cat, "cat", ["matrix"], {}),
    (torch.max, "max", ["matrix", "0"], {"out": "matrix"}),
    (torch.max, "max", ["matrix", "0"], {"out": "not_all_tensors"}),
    (torch.zeros, "zeros", ["(1,)", "1"], {}),
    (torch.zeros, "zeros", ["1"], {"size": "(1,)"}),
    (torch.zeros, "zeros", ["bool_0d"], {}),
    (torch.where, "where", ["matrix", "'x'", "1"], {}),
    (torch.conv2d, "conv2d", ["matrix", "matrix", "None", "'x'"], {}),
    (torch.pow, "pow", ["1", "1"], {}),
    (torch._foreach_add, "_foreach_add", ["tensors", "'x'"], {}),
]  # fmt: skip


@pytest.mark.parametrize("case", CURATED, ids=lambda case: f"{case[1]}{case[2]}{case[3]}")
def test_known_wrong_calls(bindings, case):
    function, name, args, kwargs = case
    parser = parser_of("torch", name, bindings["torch"][name])
    expected, mine = outcomes(lambda a, k: function(*a, **k), parser.parse, (args, kwargs), None)
    assert mine == expected


OVERLOADS = [
    ("add.Tensor", ["matrix", "'x'"], {}),
    ("add.Tensor", ["matrix"], {}),
    ("add.Tensor", [], {}),
    ("add.Tensor", ["matrix", "matrix", "matrix"], {}),
    ("add.Tensor", ["matrix", "matrix"], {"foo": "1"}),
    ("add.Tensor", ["matrix", "matrix"], {"alpha": "'x'"}),
    ("add.Tensor", ["matrix"], {"other": "matrix", "self": "matrix"}),
    ("add.Tensor", ["matrix", "None"], {}),
    ("add.Scalar", ["1", "np.float32(1.0)"], {}),
    ("atan2", ["indices", "1"], {}),
    ("sum.dim_IntList", ["1", "'x'"], {}),
    ("zeros", ["[0, 1]", "1", "1", "1", "1", "1"], {}),
    ("view", ["indices", "1"], {}),
    ("view", ["indices", "[0, 'x']"], {}),
    ("softmax.int", ["indices", "1.5"], {}),
    ("zeros", ["[0, 1]"], {"dtype": "'x'"}),
    ("zeros", ["[0, 1]"], {"device": "1.5"}),
    ("cat", ["1"], {}),
    ("dropout", ["1", "'x'", "True"], {}),
    ("conv2d", ["1", "1", "None", "1"], {}),
    ("rand.generator", ["[0, 1]"], {"generator": "1"}),
    ("gelu", ["1"], {"approximate": "1"}),
    ("_foreach_add.ScalarList", ["()", "['x']"], {}),
]


@pytest.mark.parametrize("case", OVERLOADS, ids=lambda case: f"{case[0]}{case[1]}{case[2]}")
def test_wrong_calls_of_one_overload(case, monkeypatch):
    name, args, kwargs = case
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
    schema = parse_schema(str(operator._schema))
    expected, mine = outcomes(
        lambda a, k: operator(*a, **k), lambda a, k: bind_overload(schema, a, k), (args, kwargs), None
    )
    assert expected is not None
    assert mine == expected
