"""The documentation is true: every program of the pages runs, and every operator has a text and examples that are right."""

import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import mindtorch
import pages
from mindtorch_dispatch.arguments.description import PacketSignature
from mindtorch_dispatch.arguments.documentation import entries, entry_of, python_name

ROOT = Path(__file__).resolve().parents[2]
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if pages.has_blocks(path)]
INTERNAL = {"log_sigmoid", "native_dropout_backward"}
"""Operators with names of their own in `torch` that programs do not call."""


STATUS = {
    """export MINDTORCH_NPU_SIMULATOR="Ascend910B3:4,memory=1GiB,hung=1,ecc=2"
mindtorch-npu health
""": 2,
}
"""Blocks that are typed and end with a status of their own."""

NOT_RUN = {
    "flowchart": "a picture",
    "[project.entry-points": "a piece of a file; test_toy_backend.py has a whole backend",
    "AttributeError: module 'torch' has no attribute 'x'": "what a program prints",
    "NotImplementedError: Could not run 'aten::...'": "what a program prints",
    "mindtorch-npu metrics --listen": "it serves until it is stopped",
    "mindtorch run examples/bert/train.py --device npu": "test_npu_program.py runs it",
    "%load_ext mindtorch_proxy": "lines of a notebook; test_ipython.py of mindtorch-proxy runs such",
}
"""How blocks begin that nobody runs, and why."""


def typed(page, folder, commands, **variables):
    """Type commands into a shell where the pages' commands are those of this environment; return statuses and outputs."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PYTHONPATH": "", "PATH": path, **variables}
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        yield command, done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_programs_of_a_page_run(page, tmp_path):
    shown = pages.read(page)
    for name, text in shown.files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "page.py").write_text(shown.program)
    commands = ["mindtorch page.py"] if shown.program else []
    for command in shown.commands:
        own = "run train.py" in command and "train.py" not in shown.files  # the user's program
        if not command.startswith("pip ") and not own:
            commands.append(command)
    if any(command.startswith("torchrun") for command in commands):
        pytest.importorskip("mpi4py", reason="several processes need the extra mpi")
        shown.environment["MINDTORCH"] = "1"  # `torchrun` is the real torch's where that is installed
    for command, status, output in typed(page, tmp_path, commands, **shown.environment):
        assert status == 0, (command, output)
    known = [block for block in shown.others if block in STATUS]
    for command, status, output in typed(page, tmp_path, known):
        assert status == STATUS[command], (command, output)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_blocks_have_no_options_that_the_site_does_not_know(page):
    fences = re.findall(r"^```(.+)$", pages.for_readers(page.read_text()), re.M)
    assert [fence for fence in fences if not re.fullmatch(r'\w+( title="[^"]+")?', fence)] == []


@pytest.mark.parametrize("folder", ["start", "guides", "concepts", "architecture", "reference"])
def test_blocks_that_nobody_runs_have_a_reason(folder):
    others = [block for page in sorted((ROOT / "docs" / folder).glob("*.md")) for block in pages.read(page).others]
    assert [block for block in others if block not in STATUS and not block.startswith(tuple(NOT_RUN))] == []


NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_cells_of_a_notebook_run(notebook, tmp_path):
    if notebook.stem == "bert-fine-tuning":
        pytest.importorskip("transformers", reason="the notebook trains a model of transformers")
    if notebook.stem == "distributed":
        pytest.importorskip("mpi4py", reason="several processes need the extra mpi")
    cells = json.loads(notebook.read_text())["cells"]
    program = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    (tmp_path / "notebook.py").write_text(program)
    call = [sys.executable, "notebook.py"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr


def operators():
    """The operators that the surface has under public names."""
    found = {}
    spaces = (mindtorch, mindtorch.Tensor, mindtorch.nn.functional, mindtorch.linalg, mindtorch.special, mindtorch.fft)
    for space in spaces:
        for name in dir(space):
            signature = getattr(getattr(space, name, None), "__signature__", None)
            if isinstance(signature, PacketSignature) and not name.startswith("_"):
                found[name] = signature.packet.name
    return found


def test_every_operator_has_a_text_and_an_example():
    names = {packet for packet in operators().values() if packet.rstrip("_") not in INTERNAL and packet[0] != "_"}
    without = sorted(name for name in names if entry_of(name) is None)
    assert without == []
    assert sorted(name for name in names if not entry_of(name).examples) == []


def test_every_entry_is_of_an_operator():
    packets = set(operators().values()) | {name.rstrip("_") for name in operators().values()}
    aten = mindtorch.ops.aten
    assert [name for name in entries() if name not in packets and not hasattr(aten, name)] == []


def examples():
    """The examples of all entries and of forms that share them: (name, expression, what it prints)."""
    forms = {name: entry_of(name) for name in set(operators().values()) if name not in entries() and entry_of(name)}
    del forms["detach_copy"]  # torch gives it a gradient function that does nothing
    for name, entry in {**entries(), **forms}.items():
        for text in entry.examples.split(">>> ")[1:]:
            expression, _, printed = text.partition("\n")
            yield name, expression, printed.rstrip("\n")


@pytest.mark.filterwarnings("ignore")
def test_examples_print_what_they_say():
    space = {"torch": mindtorch, "F": mindtorch.nn.functional}
    wrong = []
    for name, expression, printed in examples():
        shown = repr(eval(expression, dict(space)))
        if shown != printed:
            wrong.append((name, expression, printed, shown))
    assert wrong == []


@pytest.mark.filterwarnings("ignore")
def test_examples_print_what_torch_prints():
    torch = pytest.importorskip("torch", reason="oracle")
    space = {"torch": torch, "F": torch.nn.functional}
    wrong = []
    for name, expression, printed in examples():
        shown = repr(eval(expression, dict(space)))
        if shown != printed:
            wrong.append((name, expression, printed, shown))
    assert wrong == []


def test_function_method_and_in_place_form_say_the_same():
    for name in ("add", "mul", "clamp", "relu"):
        words = getattr(mindtorch, name).__doc__.split("\n\n")[0]
        assert getattr(mindtorch.Tensor, name).__doc__.startswith(words)
        assert getattr(mindtorch.Tensor, f"{name}_").__doc__.startswith(words)
    assert python_name("linalg_inv") == "torch.linalg.inv"


def test_help_shows_the_text(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stdout", shown)
    help(mindtorch.add)
    assert "The sum of `input`" in shown.getvalue()
    assert ">>> torch.add(" in shown.getvalue()


SPACES = "nn nn.functional optim optim.lr_scheduler utils.data autograd nn.init linalg fft special func".split()
WITHOUT_EXAMPLE = frozenset(
    "swap_in_optimizer_params_and_state enforce_grad_layout_policy cuda npu xpu pin_memory record_stream reinforce eig lstsq "
    "solve symeig dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point "
    "qscheme to_mkldnn to_padded_tensor resize_as_sparse_ slice_inverse sparse_resize_ sparse_resize_and_clear_ lu "
    "narrow_copy pipeline hsmm index ipu mtia".split()
)
"""They need a device, raise in torch as well, or belong to layouts that are not offered everywhere."""


def surface():
    """The public callables of `torch`, of the namespaces above and of `Tensor`."""
    for space in (mindtorch, *(importlib.import_module(f"mindtorch.{name}") for name in SPACES), mindtorch.Tensor):
        for name in getattr(space, "__all__", None) or dir(space):
            value = getattr(space, name, None)
            if callable(value) and not name.startswith("_"):
                yield f"{space.__module__ if space is mindtorch.Tensor else space.__name__}.{name}", value


def test_every_public_name_has_a_docstring_and_an_example():
    texts = {name: inspect.getdoc(value) or "" for name, value in surface()}
    assert [name for name, text in texts.items() if not text] == []
    silent = {name.rpartition(".")[2] for name, text in texts.items() if ">>> " not in text}
    assert sorted(silent - WITHOUT_EXAMPLE) == []


LISTED = (Path(__file__).parent / "names_without_example.txt").read_text().split()
"""Names of an `__all__` below `torch` whose docstring has no example yet; the list only shrinks."""


def listed():
    """The callables that the `__all__` of any public module below `torch` names, each once, by the first of its names."""
    seen = set()
    for name, value in named():
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def named():
    """The same by every name."""
    for found in sorted(one.name for one in pkgutil.walk_packages(mindtorch.__path__, "mindtorch.")):
        if any(part.startswith("_") for part in found.split(".")) or found in NEEDS_MORE:
            continue
        module = importlib.import_module(found)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if callable(value) and not name.startswith("_"):
                yield f"{found.replace('mindtorch', 'torch', 1)}.{name}", value


NEEDS_MORE = {"mindtorch.utils.tensorboard"}
"""Modules of which a library is needed that is not everywhere."""


def of_python(value):
    """Whether Python's own `multiprocessing` wrote it, whose names `torch.multiprocessing` passes on."""
    owner = getattr(value, "__self__", value)
    return getattr(type(owner) if owner is not value else value, "__module__", "").startswith("multiprocessing")


@pytest.mark.filterwarnings("ignore")
def test_every_listed_name_has_words_and_a_signature():
    without, mute = [], []
    for name, value in listed():
        if not inspect.getdoc(value) and not of_python(value):
            without.append(name)
        try:
            inspect.signature(value)
        except ValueError:
            if not (isinstance(value, type) and issubclass(value, Exception)):  # Python has none of plain exceptions
                mute.append(name)
    assert without == []
    assert [name for name in mute if name not in WITHOUT_SIGNATURE] == []


WITHOUT_SIGNATURE = frozenset(
    "torch.autograd.profiler_util.StringTable torch.torch_version.TorchVersion torch.fx.immutable_collections.immutable_dict "
    "torch.nn.attention.flex_attention.FlexKernelOptions torch.distributed.distributed_c10d.GroupName "
    "torch.distributed.checkpoint.state_dict.FQNS_T torch.distributed.checkpoint.state_dict.DictValueType "
    "torch.distributed.checkpoint.state_dict.ListDictValueType torch.distributed.checkpoint.state_dict.OptimizerStateType".split()
)
"""Subclasses of classes of Python, and types that are not called: they have none in torch either."""


def silent_names():
    """The names of what has no example, those of one object together."""
    silent = {}
    for name, value in named():
        if ">>> " not in (inspect.getdoc(value) or "") and not of_python(value):
            silent.setdefault(id(value), []).append(name)
    return list(silent.values())


def test_names_without_an_example_become_fewer():
    # A process of its own: tests of the proxy import modules anew, and then a module may stand where its function stood.
    program = "import json, test_documentation as t; print(json.dumps(t.silent_names()))"
    call = [sys.executable, "-W", "ignore", "-c", program]
    path = os.pathsep.join([str(Path(__file__).parent), *(one for one in sys.path if one)])
    done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=True)
    silent = json.loads(done.stdout.splitlines()[-1])
    new = [names[0] for names in silent if not set(names) & set(LISTED)]
    assert sorted(new) == []  # give the new name an example
    assert sorted(set(LISTED) - {name for names in silent for name in names}) == []  # take it off the list


@pytest.mark.filterwarnings("ignore")
def docstrings():
    """Docstrings with examples that are not those of operators, each once."""
    seen = set()
    for name, value in (*surface(), *listed()):
        text = inspect.getdoc(value) or ""
        if ">>> " in text and "The operator `" not in text and text not in seen:
            seen.add(text)
            yield name, text


RUN_EXAMPLES = """
import doctest, importlib, json, sys
if sys.argv[1] == "mindtorch":  # examples import modules below `torch`
    importlib.import_module("mindtorch_proxy").install()
torch = importlib.import_module("torch")
runner = doctest.DocTestRunner(verbose=False)
for name, text in json.load(sys.stdin):
    torch.manual_seed(0)
    runner.run(doctest.DocTestParser().get_doctest(text, {"torch": torch, "__name__": "__main__"}, name, None, 0))
sys.exit(runner.summarize(verbose=False).failed > 0)
"""


def shown_by(library, given, **variables):
    """Run examples in a process of their own, in an empty folder; return its status and what it printed."""
    call = [sys.executable, "-W", "ignore", "-c", RUN_EXAMPLES, library]  # what other tests registered is not there
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            call,
            cwd=folder,
            env={**os.environ, **variables},
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
        )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["mindtorch", "torch"])
def test_examples_of_docstrings_print_what_they_say(library):
    pytest.importorskip(library, reason="oracle")
    given = [(name, text) for name, text in docstrings() if not name.startswith("torch.npu.")]
    status, printed = shown_by(library, given)
    assert status == 0, printed


@pytest.mark.filterwarnings("ignore")
def test_examples_of_the_npu_print_what_they_say():
    given = [(name, text) for name, text in docstrings() if name.startswith("torch.npu.")]
    status, printed = shown_by("mindtorch", given, MINDTORCH_NPU_SIMULATOR="Ascend910B3:2,memory=1GiB")
    assert status == 0, printed
