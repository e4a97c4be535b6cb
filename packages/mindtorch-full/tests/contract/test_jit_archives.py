"""Archives of TorchScript that torch wrote: what their code computes here, and what a hostile one cannot do."""

import io
import math
import pickle
import re
import sys
import warnings
import zipfile
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch  # noqa: E402

sys.path.append(str(Path(__file__).parent))  # archives name the modules of their classes, which are those of a program
import archive_models as models  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
]


def saved(compiled, **extra):
    file = io.BytesIO()
    torch.jit.save(compiled, file, **extra)
    return file.getvalue()


def ours(archive, **options):
    return mindtorch.jit.load(io.BytesIO(archive), **options)


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


def assert_same(found, expected, rtol=1e-5, atol=1e-6):
    found, expected = leaves(found), leaves(expected)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if not isinstance(other, torch.Tensor):
            assert one == other
            continue
        assert (str(one.dtype), tuple(one.shape)) == (str(other.dtype), tuple(other.shape))
        wide = str(torch.complex128 if other.is_complex() else torch.float64).removeprefix("torch.")
        one, other = one.to_dense(), other.to_dense()
        result = torch.from_numpy(one.detach().resolve_conj().resolve_neg().to(getattr(mindtorch, wide)).numpy())
        torch.testing.assert_close(
            result, other.detach().to(getattr(torch, wide)), rtol=rtol, atol=atol, equal_nan=True
        )


def given(tensors):
    return [
        mindtorch.tensor(one.tolist(), dtype=getattr(mindtorch, str(one.dtype).removeprefix("torch.")))
        for one in tensors
    ]


INPUTS = {
    "Values": [torch.arange(6.0).view(2, 3)],
    "Images": [torch.linspace(-1, 1, 600).view(2, 3, 10, 10)],
    "Text": [torch.arange(6).view(2, 3)],
}


@pytest.mark.parametrize("kind", ["scripted", "traced", "frozen"])
@pytest.mark.parametrize("name", INPUTS)
def test_models_compute_the_same(name, kind):
    torch.manual_seed(0)
    model, inputs = getattr(models, name)().eval(), INPUTS[name]
    if kind == "traced":
        if name == "Values":
            pytest.skip("its result is no tensor or tuple of tensors, which tracing refuses")
        compiled = torch.jit.trace(model, inputs)
    else:
        compiled = torch.jit.script(model)
        compiled = (
            torch.jit.freeze(compiled, preserved_attrs=["other"] if name == "Values" else [])
            if kind == "frozen"
            else compiled
        )
    archive = saved(compiled)
    loaded, compiled = ours(archive), torch.jit.load(io.BytesIO(archive))
    with torch.no_grad(), mindtorch.no_grad():
        for _ in range(2):
            assert_same(loaded(*given(inputs)), compiled(*inputs))
    assert repr(loaded) == repr(compiled)
    assert list(loaded.state_dict()) == list(compiled.state_dict())
    assert [name for name, _ in loaded.named_parameters()] == [name for name, _ in compiled.named_parameters()]
    assert isinstance(loaded, mindtorch.jit.ScriptModule)
    assert loaded.code.splitlines()[0] == compiled.code.splitlines()[0]


def test_methods_attributes_arguments_and_gradients():
    torch.manual_seed(0)
    theirs = torch.jit.script(models.Values())
    mine = ours(saved(theirs))
    assert mine.other([1, 2, 3]) == theirs.other([1, 2, 3])
    assert (mine.calls, mine.factors, mine.training) == (theirs.calls, theirs.factors, theirs.training)
    x = INPUTS["Values"][0]
    assert_same(mine(*given([x]), n=3, mask=mindtorch.tensor(2.0)), theirs(x, n=3, mask=torch.tensor(2.0)))
    mine(*given([x])).total.backward()
    theirs(x).total.backward()
    assert_same(mine.linear.weight.grad, theirs.linear.weight.grad)
    assert_same(mine.double()(*given([x.double()])), theirs.double()(x.double()))
    with pytest.raises(mindtorch.jit.Error, match=r"builtins\.ValueError: too many"):
        mine(mindtorch.ones(101, 3, dtype=mindtorch.float64))


def test_where_it_is_loaded_and_what_lies_beside():
    archive = saved(torch.jit.script(models.Images()), _extra_files={"a.txt": "hello", "b": b"\x00\xff"})
    extra = {"a.txt": "", "b": "", "none": ""}
    loaded = ours(archive, map_location="meta", _extra_files=extra)
    assert extra == {"a.txt": b"hello", "b": b"\x00\xff", "none": b""}
    assert {one.device.type for one in loaded.state_dict().values()} == {"meta"}
    assert loaded(mindtorch.ones(2, 3, 10, 10, device="meta"))[0].shape == (2, 4)


def test_torch_load_hands_archives_on():
    archive = saved(torch.jit.script(models.Text()))
    with pytest.raises(RuntimeError, match="Cannot use ``weights_only=True`` with TorchScript archives"):
        mindtorch.load(io.BytesIO(archive))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        theirs = torch.load(io.BytesIO(archive), weights_only=False)
    with pytest.warns(UserWarning, match=re.escape(str(seen[0].message))):
        loaded = mindtorch.load(io.BytesIO(archive), weights_only=False)
    assert list(loaded.state_dict()) == list(theirs.state_dict())


def test_files_that_are_no_archives(tmp_path):
    torch.save([1], tmp_path / "plain.pt")
    (tmp_path / "text.pt").write_text("PK")
    for name in ("plain.pt", "text.pt"):
        texts = []
        for library in (torch, mindtorch):
            with pytest.raises(RuntimeError) as raised:
                library.jit.load(str(tmp_path / name))
            texts.append(str(raised.value).split(" (no backtrace")[0].split("\n")[0])
        assert texts[0].startswith(texts[1].rstrip(".")[:60]), texts


HOSTILE = {
    "an import": "import os\n    return x",
    "a special attribute": "return x.__class__",
    "a tensor's method": "return x.numpy()",
    "a file by numpy": 'return (x.numpy()).tofile("stolen")',
    "getattr": 'return getattr(x, "numpy")',
    "a special name": '__import__("os")\n    return x',
    "a name of Python": 'open("stolen")\n    return x',
    "a lambda": "f = lambda y: y\n    return f(x)",
    "a comprehension": "return [y for y in x]",
    "an f-string": 'return f"{x}"',
    "stars": "return torch.relu(*[x])",
    "a function within": "def g(y):\n      return y\n    return g(x)",
    "the module's own machinery": "return self._program",
    "a hook": "return self.register_forward_hook(x)",
    "writing a class attribute": "self._declared = x\n    return x",
    "a special operator": "return ops.aten.__class__(x)",
    "an operator on files": 'return torch.from_file("stolen", None, 4)',
    "assigning the language": "torch.relu = x\n    return x",
    "two targets": "a = self.training = True\n    return x",
    "a class of Python": "raise ValueError",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_code_of_archives_reaches_nothing_of_python(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changed = rewritten(saved(torch.jit.script(models.Plain())), HOSTILE[what])
    with pytest.raises((RuntimeError, NotImplementedError, AttributeError)):
        ours(changed)(mindtorch.ones(2))
    assert list(tmp_path.iterdir()) == []


BESIDE = """
class Beside:
  def own(self: int) -> int:
    return 1
class Kind(Enum):
  FIRST = 1
class Pair(NamedTuple):
  one : int
class Part(Module):
  __parameters__ = []
  __buffers__ = []
  def forward(self: int) -> int:
    return 1
"""
OF_CLASSES = {
    "what Python reads attributes by": "return __torch__.archive_models.Beside.__getattribute__(x, '__class__')",
    "globals of a method": "return __torch__.archive_models.Beside.own",
    "ancestors": "return __torch__.archive_models.Beside.mro()",
    "descendants": "return __torch__.archive_models.Beside.__subclasses__()",
    "a method that saves": "return __torch__.archive_models.Part.save(self, 'stolen')",
    "a method that sets": "return __torch__.archive_models.Part.__setattr__(self, 'forward', x)",
    "the way to make a tuple": "return __torch__.archive_models.Pair._make([1])",
    "members as a mapping": "return __torch__.archive_models.Kind.__members__",
    "the class of an enumeration": "return __torch__.archive_models.Kind.__class__",
    "a name with what stands for a dot": "y = torch.add(x, x)\n    return torch\u00b7add(x, x)",
    "a constant that there is not": "return CONSTANTS.c99",
    "a constant by another name": "return CONSTANTS.__class__",
}


@pytest.mark.parametrize("what", OF_CLASSES)
def test_code_of_archives_reaches_nothing_of_its_classes(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changed = rewritten(saved(torch.jit.script(models.Plain())), OF_CLASSES[what] + BESIDE)
    with pytest.raises(
        (RuntimeError, AttributeError, pickle.UnpicklingError), match=r"no member|not defined|no constant"
    ):
        ours(changed)(mindtorch.ones(2))
    assert list(tmp_path.iterdir()) == []


def test_members_of_an_enumeration_are_reached():
    named = "kind = __torch__.archive_models.Kind.FIRST\n    return torch.add(x, kind.value)"
    assert ours(rewritten(saved(torch.jit.script(models.Plain())), named + BESIDE))(mindtorch.ones(1)).item() == 2


DECLARED = ("save", "__class__", "__dict__", "__init__", "_program", "_declared", "_modules", "apply", "code")


@pytest.mark.parametrize("form", ['__annotations__["{}"] = int', "{} : int"])
@pytest.mark.parametrize("name", DECLARED)
def test_a_class_cannot_declare_what_python_gave_it(name, form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    archive = saved(torch.jit.script(models.Plain()))
    for body in (f"return self.{name}", f"y = self.{name}\n    y('stolen')\n    return x"):
        declared = rewritten(archive, body, ("  training : bool\n", f"  training : bool\n  {form.format(name)}\n"))
        with pytest.raises((RuntimeError, AttributeError, pickle.UnpicklingError)):
            ours(declared)(mindtorch.ones(2))
    assert list(tmp_path.iterdir()) == []


def rewritten(archive, new, declared=("", "")):
    """The archive with other statements for the body of the function in its code, and other words in its class."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as read, zipfile.ZipFile(out, "w") as write:
        for name in read.namelist():
            data = read.read(name)
            if name.endswith("archive_models.py"):
                head, found, _ = data.decode().partition("    return ")
                assert found
                head = head.replace(*declared)
                data = f"{head}    {new}\n".encode()
            write.writestr(name, data)
    return out.getvalue()


def test_damaged_archives_are_refused():
    archive = saved(torch.jit.script(models.Text()))
    for place in range(0, len(archive), max(1, len(archive) // 150)):
        damaged = bytearray(archive)
        damaged[place] ^= 0xFF
        try:
            ours(bytes(damaged))
        except (RuntimeError, NotImplementedError, ValueError, EOFError, pickle.UnpicklingError) as error:
            refused = error
            assert str(refused) or type(refused) is EOFError


NOT_COMPARED = {
    "empty": "its values are whatever memory held",
    "empty_like": "its values are whatever memory held",
    "empty_permuted": "its values are whatever memory held",
    "empty_strided": "its values are whatever memory held",
    "new_empty": "its values are whatever memory held",
    "new_empty_strided": "its values are whatever memory held",
    "linalg.eig": "the signs of vectors are free",
    "linalg.eigh": "the signs of vectors are free",
    "linalg.svd": "the signs of vectors are free",
    "svd": "the signs of vectors are free",
    "pca_lowrank": "the signs of vectors are free",
    "svd_lowrank": "the signs of vectors are free",
}


def traced_samples():
    """The first sample of every operator of torch's database that can be traced: name, archive, inputs, outputs."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        dtype = torch.float32 if info.supports_dtype(torch.float32, "cpu") else torch.int64
        if info.name in NOT_COMPARED or not info.supports_dtype(dtype, "cpu"):
            continue
        sample = next(iter(info.sample_inputs("cpu", dtype)), None)
        if sample is None or not isinstance(sample.input, torch.Tensor):
            continue
        values = [sample.input, *sample.args, *sample.kwargs.values()]
        tensors = [one.detach().clone() for one in values if isinstance(one, torch.Tensor)]
        try:
            compiled = torch.jit.trace(Call(info.op, sample), tuple(tensors), check_trace=False)
            torch.manual_seed(0)
            expected = compiled(*[one.clone() for one in tensors])
            yield f"{info.name} {info.variant_test_name}", saved(compiled), tensors, expected
        except (RuntimeError, AssertionError):
            continue  # tracing refuses the operator's results, or its way of taking arguments


class Call(torch.nn.Module):
    """A call of an operator, its tensors given in order."""

    def __init__(self, operator, sample):
        super().__init__()
        self.operator, self.sample = operator, sample

    def forward(self, *tensors):
        left = iter(tensors)
        put = [next(left) if isinstance(one, torch.Tensor) else one for one in (self.sample.input, *self.sample.args)]
        named = {name: next(left) if isinstance(one, torch.Tensor) else one for name, one in self.sample.kwargs.items()}
        result = self.operator(*put, **named)
        return tuple(result) if isinstance(result, (list, tuple)) else result


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_archives_of_every_operator():
    count, wrong = 0, []
    for name, archive, tensors, expected in traced_samples():
        count += 1
        inputs = io.BytesIO()
        torch.save(tensors, inputs)
        inputs.seek(0)
        try:
            loaded = ours(archive)
            mindtorch.manual_seed(0)
            with mindtorch.no_grad():
                assert_same(loaded(*mindtorch.load(inputs)), expected, rtol=1e-4, atol=1e-5)
        except (AssertionError, RuntimeError, TypeError, AttributeError, ValueError) as error:
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
    assert count > 500
    assert not wrong, "\n".join(wrong)


def powers(a: int, b: int):
    return math.pow(a, b), float(a) ** b


def factorial(a: int):
    return math.factorial(a)


def shifted(a: int, b: int):
    return a << b


def last_line(call):
    try:
        return call()
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1].removeprefix("RuntimeError: ")


@pytest.mark.parametrize(
    ("function", "given"),
    [(powers, one) for one in ((2, 10), (9, 999999999), (0, -1), (0, 0), (-2, 3), (-9, 999), (-1, -3))]
    + [(factorial, (one,)) for one in (0, 5, 20, 21, 25, 40, 64, -1)]
    + [(shifted, one) for one in ((1, 3), (1, 63), (3, 64), (1, 70))],
)
def test_integers_have_64_bits_in_powers_factorials_and_shifts(function, given):
    """Python's have no end: a file with `9 ** 999999999` held the process for hours."""
    compiled = torch.jit.script(function)
    assert repr(last_line(lambda: ours(saved(compiled))(*given))) == repr(last_line(lambda: compiled(*given)))
