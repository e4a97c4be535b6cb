"""The ways to turn the proxy on, each in a process of its own, beside a real torch and without one."""

import importlib.util

import pytest

REAL = importlib.util.find_spec("torch") is not None

WHICH = "import torch; print(torch.__path__[0].rpartition('/')[2] + ' ' + str(torch.__version__))"
OURS = "mindtorch 2.13.0\n"


@pytest.fixture
def beside(request):
    """The search path that has another torch: the oracle where it is installed, else a fake one."""
    return () if REAL else (request.getfixturevalue("fake_torch"),)


def is_other(text):
    return text.startswith("torch ")


def test_importing_the_proxy_imports_only_the_standard_library(run_python):
    code = (
        "import sys; before = set(sys.modules); import mindtorch_proxy.startup, mindtorch_proxy.__main__\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)), 'torch' in sys.modules)"
    )
    result = run_python("-c", code, MINDTORCH="0")
    assert result.stdout == "['mindtorch_proxy'] False\n", result.stderr


@pytest.mark.parametrize(
    ("mode", "other", "ours"),
    [
        ("1", True, True),
        ("0", True, False),
        ("auto", True, False),
        ("", True, False),
        ("1", False, True),
        ("auto", False, True),
    ],
)
def test_environment_variable_at_start(mode, other, ours, run_python, beside):
    if not other and REAL:
        pytest.skip("a real torch is installed")
    result = run_python("-c", "import mindtorch_proxy.startup\n" + WHICH, path=beside if other else (), MINDTORCH=mode)
    if ours:
        assert result.stdout == OURS, result.stderr
    else:
        assert is_other(result.stdout), result.stderr


@pytest.mark.skipif(REAL, reason="a real torch is installed")
def test_mode_0_without_any_torch(run_python):
    result = run_python("-c", "import mindtorch_proxy.startup\n" + WHICH, MINDTORCH="0")
    assert result.stderr.endswith("ModuleNotFoundError: No module named 'torch'\n")


def test_wrong_value(run_python):
    result = run_python("-c", "import mindtorch_proxy.startup", MINDTORCH="yes")
    assert result.stderr.endswith("ValueError: MINDTORCH must be 1, 0 or auto, got 'yes'\n")


def test_uninstall_gives_the_other_torch_back(run_python, beside):
    code = f"import mindtorch_proxy as p\nwith p.proxy():\n    {WHICH}\n{WHICH}"
    ours, other = run_python("-c", code, path=beside).stdout.splitlines()
    assert ours + "\n" == OURS
    assert is_other(other)


@pytest.mark.skipif(REAL, reason="a real torch is installed")
def test_uninstall_without_any_torch(run_python):
    result = run_python("-c", f"import mindtorch_proxy as p\nwith p.proxy():\n    {WHICH}\n{WHICH}")
    assert result.stdout == OURS
    assert result.stderr.endswith("ModuleNotFoundError: No module named 'torch'\n")


def test_refusal_names_file_and_importer(run_python, beside, tmp_path):
    (tmp_path / "library.py").write_text("import os\nfrom torch import nn\n")
    code = "import library, mindtorch_proxy as p\np.install()"
    result = run_python("-c", code, path=(*beside, tmp_path))
    last = result.stderr.splitlines()[-1]
    assert last.startswith("mindtorch_proxy.real_torch.RealTorchImportedError: cannot install the MindTorch proxy: ")
    assert "torch/__init__.py, imported by 'library' (" in last
    assert f"{tmp_path / 'library.py'}:2)" in last


def test_other_torch_set_aside_and_restored_exactly(run_python, beside):
    code = (
        "import sys, torch, mindtorch_proxy as p\n"
        "state = lambda: {n: id(m) for n, m in sys.modules.items() if n.split('.')[0] == 'torch'}\n"
        "real, before = torch, state()\n"
        "with p.proxy(replace=True):\n"
        "    import torch\n"
        "    print(torch.__path__[0].rpartition('/')[2])\n"
        "import torch\n"
        "print(torch is real, state() == before, len(before) > 1)"
    )
    result = run_python("-c", code, path=beside)
    assert result.stdout == "mindtorch\nTrue True True\n", result.stderr


def test_a_directory_called_torch_is_no_torch(run_python, tmp_path):
    if REAL:
        pytest.skip("a real torch is installed")
    (tmp_path / "torch").mkdir()
    result = run_python("-c", "import mindtorch_proxy.startup\n" + WHICH, MINDTORCH="auto")
    assert result.stdout == OURS, result.stderr


def test_site_file(run_python, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    start = f"import site; site.addsitedir({str(site)!r})\n{WHICH}"
    written = run_python("-m", "mindtorch_proxy", "enable-site", "--directory", str(site))
    assert written.stdout.startswith(f"wrote {site}")
    assert run_python("-c", start, MINDTORCH="1").stdout == OURS
    status = run_python("-m", "mindtorch_proxy", "status", "--directory", str(site)).stdout
    assert str(site) in status
    removed = run_python("-m", "mindtorch_proxy", "disable-site", "--directory", str(site))
    assert removed.stdout.startswith(f"removed {site}")
    assert list(site.iterdir()) == []
    again = run_python("-m", "mindtorch_proxy", "disable-site", "--directory", str(site))
    assert (again.returncode, again.stdout[:11]) == (0, "not enabled")
    assert run_python("-c", start, MINDTORCH="1").stdout != OURS


def test_site_file_where_the_proxy_is_gone(run_python, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    run_python("-m", "mindtorch_proxy", "enable-site", "--directory", str(site))
    start = (
        "import sys, site; sys.path[:] = [p for p in sys.path if 'mindtorch-proxy' not in p]; "
        f"site.addsitedir({str(site)!r})"
    )
    result = run_python("-S", "-c", start)
    assert (result.returncode, result.stderr) == (0, "")


def test_site_file_that_cannot_be_written(run_python, tmp_path):
    result = run_python("-m", "mindtorch_proxy", "enable-site", "--directory", str(tmp_path / "none"))
    assert result.returncode == 1
    assert result.stderr.startswith("mindtorch_proxy: ")


PYTEST = ("-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA")


@pytest.fixture
def suite(tmp_path):
    """A test suite whose conftest imports torch."""
    (tmp_path / "conftest.py").write_text("import torch\n")
    (tmp_path / "test_it.py").write_text(f"def test_it():\n    {WHICH}\n")


def plugin(*options):
    """Load the plugin by name unless the proxy is installed and pytest finds it by its entry point."""
    return (*PYTEST, "-p", "mindtorch_proxy.pytest_plugin", *options)


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize(("option", "variable"), [("--mindtorch", ""), ("--mindtorch=1", "0"), ("-q", "1")])
def test_pytest_plugin_on(option, variable, run_python):
    result = run_python(*plugin(option, "-v", "-v"), MINDTORCH=variable)
    assert OURS in result.stdout, result.stdout + result.stderr
    assert "mindtorch: import torch is MindTorch (torch 2.13.0, " in result.stdout


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize("options", [["--mindtorch=0"], ["--mindtorch=auto"], []])
def test_pytest_plugin_off(options, run_python, beside):
    result = run_python(*plugin(*options, "-v", "-v"), path=beside)
    assert result.returncode == 0, result.stdout + result.stderr
    assert OURS not in result.stdout
    assert ("mindtorch: off" in result.stdout) == bool(options)


@pytest.mark.usefixtures("suite")
@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_pytest_plugin_in_xdist_workers(run_python):
    result = run_python(*plugin("--mindtorch", "-n", "1"))
    assert OURS in result.stdout, result.stdout + result.stderr


def test_running_pytest_leaves_the_process_as_it_was(run_python, suite):
    code = (
        "import sys, pytest, mindtorch_proxy as p\n"
        f"pytest.main({[*plugin('--mindtorch')[2:]]!r})\n"
        "print(p.is_installed(), [n for n in sys.modules if n.split('.')[0] == 'torch'])"
    )
    assert run_python("-c", code).stdout.endswith("False []\n")
