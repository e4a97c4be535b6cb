"""`torch.utils._traceback`: stacks, short texts of frames, and sources that only globals know."""

import importlib
import pickle
import re
import traceback

import pytest

pytest.importorskip("torch", reason="oracle")
SOURCE = "def f(x):\n    def g(x):\n        raise RuntimeError('k')  # marked\n\n    x = x * 3\n    return g(x) + 1\n"


def of(root):
    return importlib.import_module(f"{root}.utils._traceback")


def captured(module):
    def inner(skip):
        return module.CapturedTraceback.extract(skip=skip)

    stacks = [inner(0), inner(1)]
    ends = [[(one.filename, one.name) for one in stack.summary()[-2:]] for stack in stacks]
    again = pickle.loads(pickle.dumps(stacks[1]))
    texts = module.CapturedTraceback.format_all(stacks)
    state = (again.format(), again.skip, texts == [one.format() for one in stacks])
    stacks[0].cleanup()
    return ends, state, stacks[0].format(), stacks[0].summary()


def short(module):
    try:
        raise RuntimeError
    except RuntimeError as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        texts = [module.format_frame(frame, base="/", line=True), module.format_frame(frame, base=__file__[:-8])]
        texts.append(module.format_traceback_short(error.__traceback__).rpartition("/")[2])
    return texts, module.shorten_filename("a/b.py"), module.shorten_filename("/a/b.py", base="/a")


def shown(module):
    found = {}
    exec(SOURCE, {"__compile_source__": SOURCE}, found)
    with pytest.raises(RuntimeError) as raised, module.report_compile_source_on_error():
        found["f"](1)
    text = "".join(traceback.format_tb(raised.value.__traceback__)[-2:])
    return re.sub('File ".*?"', "File", text), raised.value.__suppress_context__


@pytest.mark.parametrize("ask", [captured, short, shown])
def test_they_say_what_torchs_say(ask):
    assert ask(of("mindtorch")) == ask(of("torch"))


def test_the_line_of_a_compiled_source_is_shown():
    assert "# marked" in shown(of("mindtorch"))[0]


def test_paddings_in_the_order_of_onnx():
    ours, theirs = (importlib.import_module(f"{root}.onnx.symbolic_opset9") for root in ("mindtorch", "torch"))
    for rank, pad in ((3, [1, 2, 3, 4]), (4, (1, 2, 3, 4)), (3, [1, 2]), (1, [5, 6])):
        assert ours._prepare_onnx_paddings(rank, pad) == theirs._prepare_onnx_paddings(rank, pad)
