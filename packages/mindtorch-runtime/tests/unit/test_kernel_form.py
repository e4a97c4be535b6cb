"""Kernels that plug in through `mindtorch/kernel.h`: run without Python where they have the form, by Python where not."""

import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

import mindtorch_runtime
from mindtorch_runtime import native

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")

SOURCE = """
#include <mindtorch/kernel.h>

static int calls = 0;

/* out[:] = 7 by Python's own protocol; declines where it is given a float. */
static int fill_seven(const mindtorch_kernel *self, PyObject *out, PyObject *const *values, Py_ssize_t count) {
    (void)self;
    if (count > 1 && PyFloat_Check(values[1])) return 0;
    calls++;
    PyObject *seven = PyLong_FromLong(7), *all = PySlice_New(NULL, NULL, NULL);
    int done = seven != NULL && all != NULL ? PyObject_SetItem(out, all, seven) : -1;
    Py_XDECREF(seven);
    Py_XDECREF(all);
    return done < 0 ? -1 : 1;
}

static const mindtorch_kernel kernel = {MINDTORCH_KERNEL_ABI, MINDTORCH_KERNEL_HALVES, "mul.Tensor", fill_seven, NULL};
static const mindtorch_kernel later = {MINDTORCH_KERNEL_ABI + 1, 0, "mul.Tensor", fill_seven, NULL};

static PyObject *count(PyObject *module, PyObject *nothing) { return PyLong_FromLong(calls); }
static PyMethodDef methods[] = {{"count", count, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "third_party", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_third_party(void) {
    PyObject *module = PyModule_Create(&definition);
    PyModule_AddObject(module, "form", PyCapsule_New((void *)&kernel, MINDTORCH_KERNEL_CAPSULE, NULL));
    PyModule_AddObject(module, "later", PyCapsule_New((void *)&later, MINDTORCH_KERNEL_CAPSULE, NULL));
    return module;
}
"""

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import third_party
import mindtorch as mt
from mindtorch_dispatch.table import kernels, register_kernel

taken = []
def kernel(out, *values):
    taken.append(values)
    out[...] = 5
kernel.__mindtorch_kernel__ = getattr(third_party, sys.argv[2])
del kernels["cpu"]["mul.Tensor"]
register_kernel("cpu", ["mul.Tensor"], kernel)
x = mt.ones(3)
made = [(x * x).tolist() for _ in range(3)]
print(made[-1], third_party.count() > 0, len(taken))
made = [(x * 2.5).tolist() for _ in range(3)]
print(made[-1])
"""


@pytest.fixture(scope="module")
def third_party(tmp_path_factory):
    folder = tmp_path_factory.mktemp("third_party")
    (folder / "third_party.c").write_text(SOURCE)
    target = folder / f"third_party{sysconfig.get_config_var('EXT_SUFFIX')}"
    command = [
        *sysconfig.get_config_var("CC").split()[:1],
        "-shared",
        "-fPIC",
        "-Wall",
        "-Werror",
        "-Wno-unused-parameter",
    ]
    include = [f"-I{sysconfig.get_paths()['include']}", f"-I{mindtorch_runtime.include()}"]
    try:
        done = subprocess.run(
            [*command, *include, folder / "third_party.c", "-o", target], capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no C compiler")
    assert done.returncode == 0, done.stderr
    return folder


def run(program, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_kernel_of_ones_own_in_plain_c_runs_without_python(third_party):
    pytest.importorskip("mindtorch")
    shown = run(PROGRAM, third_party, "form").splitlines()
    assert shown[0].startswith("[7.0, 7.0, 7.0] True")
    assert shown[1] == "[5.0, 5.0, 5.0]"  # it declines, and the object that has the form runs


def test_a_form_of_another_version_is_left_aside(third_party):
    pytest.importorskip("mindtorch")
    assert run(PROGRAM, third_party, "later").startswith("[5.0, 5.0, 5.0] False 3")


def test_the_header_is_c_and_c_plus_plus(tmp_path):
    header = Path(mindtorch_runtime.include()) / "mindtorch" / "kernel.h"
    assert header.exists()
    assert 'extern "C"' in header.read_text()


@pytest.mark.parametrize("lists", [None, (None,), ([1],), (["a"], [2])])
def test_lists_of_what_is_no_plain_tensor(lists):
    if isinstance(lists, tuple) and isinstance(lists[0], list):
        assert native.module.plain_arrays(lists) is None
    else:
        with pytest.raises(TypeError, match="plain_arrays"):
            native.module.plain_arrays(lists)
    with pytest.raises(TypeError, match="note_writes"):
        native.module.note_writes(lists, b"\x00")


def test_another_capsule_is_refused(third_party):
    sys.path.insert(0, str(third_party))
    try:
        import third_party as module
    finally:
        sys.path.remove(str(third_party))
    with pytest.raises(ValueError, match="incorrect name"):
        native.module.use_memory(module.form)
