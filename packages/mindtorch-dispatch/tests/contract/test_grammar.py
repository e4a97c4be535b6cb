"""Corners of the grammar: what torch's parser makes of them, text for text."""

import pytest

from mindtorch_dispatch.schema import parse_schema

torch = pytest.importorskip("torch", reason="oracle")

CASES = r"""
foo(Tensor(a) x) -> Tensor(a)
foo(Tensor(a!) x) -> Tensor(a!)
foo(Tensor(a!)[] x) -> ()
foo(Tensor(a -> *) x) -> Tensor(a)[]
foo(Tensor(*) x) -> Tensor
foo(Tensor?[] x) -> Tensor?
foo(Tensor[]? x) -> Tensor[]?
foo(int[2]? x=None) -> int[]
foo(int[3] x=1) -> int
foo(int[3] x=[1,2,3]) -> int
foo(SymInt[2] x=0) -> SymInt
foo(float x=1e-5) -> float
foo(float x=-1.5e10) -> float
foo(float x=inf) -> float
foo(float? x=None) -> float?
foo(bool x=True, bool y=False) -> bool
foo(bool[2] m=[True, False]) -> ()
foo(str s="a\"b") -> str
foo(str s='a') -> str
foo(str? s=None) -> ()
foo(Scalar s=1) -> Scalar
foo(Scalar s=1.5) -> Scalar
foo(Scalar[] s=[1, 2.5]) -> ()
foo(ScalarType t=long) -> ScalarType
foo(ScalarType? t=None, Layout l=strided, MemoryFormat m=contiguous_format) -> ()
foo(Device d="cpu") -> Device
foo(Generator? g=None) -> Generator
foo(Tensor x, *, Tensor y) -> (Tensor a, Tensor b)
foo(Tensor x, *, Tensor y=None) -> Tensor
foo(Tensor x, ...) -> ...
foo(...) -> Tensor
foo(Dict(str, Tensor) d) -> Dict(int, str)
foo(Future(Tensor) f) -> Future(int)
foo((Tensor, int) p) -> (Tensor, int)
foo((Tensor, int)[] p) -> ((Tensor, int), int)
foo(t x) -> t
foo(t[] x) -> t[]
foo(Any x) -> Any
foo(Tensor[][] x) -> Tensor[][]
foo(int x=-1) -> int
foo(int x=1.5) -> int
foo(int[] x=[]) -> int
foo(Tensor x=1) -> int
foo(Tensor? x=1) -> int
foo(int? x=abc) -> int
foo(int x, *) -> int
foo(*, int x) -> int
foo(*, *, int x) -> int
foo(int x, int x) -> int
foo(Tensor(a) x) -> Tensor(b)
foo(Tensor(a! x) -> Tensor
foo (Tensor x) -> Tensor
 foo(Tensor x) -> Tensor
foo(Tensor  x ,  int  y)->Tensor
foo(Tensor x)
foo(Tensor x) ->
foo(Tensor x) -> ()
foo(Tensor x) -> (Tensor)
foo(Tensor x) -> (Tensor,)
foo(Tensor x) -> (Tensor y)
foo(Tensor x) -> Tensor y
foo(Tensor x) -> Tensor(a!) y
foo(Tensor x, int[2][3] y) -> Tensor
foo(Tensor x, int[-1] y) -> Tensor
foo(Tensor? x?) -> Tensor
foo(Tensor?? x) -> Tensor
ns::foo.over(Tensor x) -> Tensor
ns::foo.default(Tensor x) -> Tensor
ns::foo.(Tensor x) -> Tensor
::foo(Tensor x) -> Tensor
ns::(Tensor x) -> Tensor
foo(Union(int, str) x) -> int
foo(List(int) x) -> int
foo(Optional(int) x) -> int
foo(Tuple(int, str) x) -> int
foo(RRef(t) x) -> t
foo(NoneType x) -> NoneType
foo(SymBool b, SymFloat f) -> SymInt
foo(Stream s, Storage t, QScheme q) -> ()
foo(Tensor x, int y=1 -> Tensor
foo Tensor x -> Tensor
foo(Tensor x)) -> Tensor
foo(Tensor x) -> Tensor;
foo(Tensor x) -> Tensor foo(Tensor x) -> Tensor
foo(int x=1,) -> int
foo(,int x) -> int
foo(int) -> int
foo(x) -> int
foo(int x y) -> int
foo(123 x) -> int
foo(str s="abc) -> int
foo(str s=abc) -> int
foo(bool b=true) -> int
foo(float[2] f=1.0) -> ()
foo(float[] f=[1, 2.0]) -> ()
foo(int[2] x=[1]) -> int
foo(int[2] x=[1,2,3]) -> int
""".strip().splitlines()


def outcome(parse, text):
    try:
        return str(parse(text))
    except RuntimeError as error:
        return "RuntimeError", str(error)


@pytest.mark.parametrize("text", [*CASES, " foo(Tensor x) -> Tensor "])
def test_a_text_is_read_as_torch_reads_it(text):
    ours = outcome(lambda text: parse_schema(text, namespace="", strict=True), text)
    assert ours == outcome(torch._C.parse_schema, text)


VALID = [text for text in CASES if isinstance(outcome(torch._C.parse_schema, text), str)]


@pytest.mark.parametrize("text", VALID)
def test_what_is_printed_is_read_as_the_same(text):
    schema = parse_schema(text, strict=True)
    assert parse_schema(str(schema), strict=True) == schema
