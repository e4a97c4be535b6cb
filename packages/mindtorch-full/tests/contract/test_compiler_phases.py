"""What `torch.compiler` says of the running code: compiled, exported, traced, disabled, in a stance; beside torch."""

from typing import Any

import pytest

import mindtorch as mt
import mindtorch._dynamo
import mindtorch.export

torch = pytest.importorskip("torch", reason="oracle")

from .export_precisions import precisions as precisions  # noqa: E402 - needs torch

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning"),
    pytest.mark.usefixtures("precisions"),
]


def _said(lib: Any) -> tuple[bool, ...]:
    asked = (lib.compiler.is_compiling, lib.compiler.is_exporting, lib.compiler.is_dynamo_compiling)
    return (*(one() for one in asked), lib._dynamo.is_compiling())


def _module(lib: Any, heard: list[Any]) -> Any:
    class Hears(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            heard.append(_said(lib))
            return x + 1

    return Hears()


def _exported(lib: Any) -> Any:
    heard: list[Any] = []
    lib.export.export(_module(lib, heard), (lib.ones(2),))
    return set(heard), _said(lib)


def _traced(lib: Any) -> Any:
    heard: list[Any] = []
    lib.jit.trace(_module(lib, heard), lib.ones(2))
    return set(heard)


def _by_graph(lib: Any, backend: Any) -> Any:
    @lib.compile(backend=backend)
    def moved(x: Any) -> Any:
        return x + 1 if lib.compiler.is_compiling() else x - 1

    return moved(lib.ones(2)).tolist()


def _compiled(lib: Any) -> Any:
    return [_by_graph(lib, backend) for backend in ("eager", "aot_eager", lambda graph, inputs: graph.forward)]


def _disabled(lib: Any) -> Any:
    @lib.compiler.disable
    def apart() -> bool:
        return lib.compiler.is_compiling()

    @lib.compile(backend="eager")
    def whole(x: Any) -> Any:
        x = x + 1
        first = apart()
        return x * 2, first, lib.compiler.is_compiling()

    return whole(lib.ones(2))[1:]


def _in_stances(lib: Any) -> Any:
    @lib.compile(backend="eager")
    def compiled() -> bool:
        return lib.compiler.is_compiling()

    @lib.compiler.set_stance("force_eager")
    def decorated() -> bool:
        return compiled()

    said = [compiled(), decorated(), compiled()]
    try:
        lib.compiler.set_stance("force_eager")
        said.append(compiled())
        with lib.compiler.set_stance("default"):
            said.append(compiled())
        said.append(compiled())
    finally:
        lib.compiler.set_stance("default")
    return [*said, compiled()]


@pytest.mark.parametrize("program", [_exported, _traced, _compiled, _disabled, _in_stances])
def test_code_is_told_what_it_is_part_of(program: Any) -> None:
    assert program(mt) == program(torch)


def test_the_default_backend_compiles_too() -> None:
    assert _by_graph(mt, "inductor") == [2.0, 2.0]


def test_the_phase_ends_with_an_error() -> None:
    @mt.compile
    def failing() -> None:
        raise KeyError("inner")

    with pytest.raises(KeyError, match="inner"):
        failing()
    assert not mt.compiler.is_compiling()


def test_a_stance_is_not_set_in_compiled_code() -> None:
    with pytest.raises(RuntimeError, match=r"attempted to set_stance in a torch\.compile region"):
        mt.compile(lambda: mt.compiler.set_stance("force_eager"))()
    with pytest.raises(RuntimeError, match="non-default stance cannot have force_backend set"):
        mt.compiler.set_stance("force_eager", force_backend="eager")
