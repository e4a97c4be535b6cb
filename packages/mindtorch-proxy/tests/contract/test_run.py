"""A program run under the proxy sees and shows what it would under `python`."""

import zipfile

import pytest

LAUNCH = "import sys, mindtorch_proxy as p; getattr(p, 'run_' + sys.argv[1])(sys.argv[2], sys.argv[3:])"

PROGRAMS = {
    "facts": """
        import sys
        print(sys.argv, sys.path[0], __name__, __file__, __package__, __builtins__.__name__)
        print(getattr(__spec__, 'name', None))
        print(sorted(globals()), type(__loader__).__name__, sys.modules["__main__"].__dict__ is globals())
        print(__import__("beside").value)
    """,
    "traceback": """
        def outer():
            inner()
        def inner():
            raise ValueError("from the program")
        outer()
    """,
    "chained": """
        try:
            {}["x"]
        except KeyError as error:
            raise RuntimeError("second") from error
    """,
    "syntax": "def broken(:\n",
    "exit_code": "import sys; print('out'); sys.exit(3)",
    "exit_text": "raise SystemExit('a reason')",
    "interrupt": "raise KeyboardInterrupt",
    "own_hook": """
        import sys, traceback
        sys.excepthook = lambda kind, error, tb: print("hook", kind.__name__, len(traceback.extract_tb(tb)))
        raise ValueError
    """,
    "at_exit": """
        import atexit, threading
        state = "still here"
        atexit.register(lambda: print(state))
        threading.Timer(0.05, lambda: print("thread", state)).start()
    """,
    "pickles_its_own": """
        import pickle
        class Mine: pass
        print(type(pickle.loads(pickle.dumps(Mine()))) is Mine)
    """,
    "annotated": "x: int = 1\nprint(__annotations__)\n",
}


def write(path, text):
    lines = text.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    path.write_text("\n".join(line[indent:] for line in lines))
    return path


def comparable(result):
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_file(name, run_python, tmp_path):
    (tmp_path / "programs").mkdir()
    write(tmp_path / "programs" / "beside.py", "value = 'beside'")
    write(tmp_path / "programs" / f"{name}.py", PROGRAMS[name])
    file = f"programs/{name}.py"
    ours = run_python("-c", LAUNCH, "path", file, "a", "-b")
    theirs = run_python(file, "a", "-b")
    assert comparable(ours) == comparable(theirs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_module(name, run_python, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    write(tmp_path / "beside.py", "value = 'beside'")
    write(package / "__init__.py", "")
    write(package / f"{name}.py", PROGRAMS[name])
    ours = run_python("-c", LAUNCH, "module", f"package.{name}", "a", "-b")
    theirs = run_python("-m", f"package.{name}", "a", "-b")
    if name in ("traceback", "chained", "syntax", "interrupt"):  # python shows runpy's own frames here; we do not
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
        assert [line for line in theirs.stderr.splitlines() if "runpy" not in line][-3:] == ours.stderr.splitlines()[
            -3:
        ]
        assert "runpy" not in ours.stderr
        assert "mindtorch_proxy" not in ours.stderr
    elif name == "own_hook":
        assert ours.stdout == "hook ValueError 1\n"
    else:
        assert comparable(ours) == comparable(theirs)


@pytest.mark.parametrize("name", ["package", "package.sub", "nothing", "package.nothing", "nothing.below", "broken"])
def test_package_main_and_missing_modules(name, run_python, tmp_path):
    for directory in ("package", "package/sub"):
        (tmp_path / directory).mkdir()
        write(tmp_path / directory / "__init__.py", "")
    write(tmp_path / "package" / "__main__.py", "import sys; print(__name__, __package__, __spec__.name, sys.argv)")
    write(tmp_path / "broken.py", "import a_module_nobody_has")
    ours = run_python("-c", LAUNCH, "module", name)
    theirs = run_python("-m", name)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    assert ours.stderr.splitlines()[-1:] == theirs.stderr.splitlines()[-1:]


@pytest.mark.parametrize("kind", ["directory", "archive", "empty", "missing"])
def test_directory_and_archive(kind, run_python, tmp_path):
    code = "import sys, beside; print(__name__, __file__, __package__, sys.path[0], sys.argv, beside.value)"
    path = tmp_path / kind
    if kind == "archive":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("__main__.py", code)
            archive.writestr("beside.py", "value = 1")
    elif kind != "missing":
        path.mkdir()
        if kind == "directory":
            write(path / "__main__.py", code)
            write(path / "beside.py", "value = 1")
    ours, theirs = run_python("-c", LAUNCH, "path", kind, "x"), run_python(kind, "x")
    assert comparable(ours) == comparable(theirs)


def test_code(run_python):
    code = "import sys; print(sys.argv, repr(sys.path[0]), __name__, '__file__' in globals()); 1 / 0"
    ours, theirs = run_python("-c", LAUNCH, "code", code, "x"), run_python("-c", code, "x")
    assert comparable(ours) == comparable(theirs)


def test_symbolic_link_and_safe_path(run_python, tmp_path):
    (tmp_path / "real").mkdir()
    write(tmp_path / "real" / "program.py", "import sys; print(sys.path[0], __file__, sys.argv)")
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "program.py")
    for options in ([], ["-P"]):
        ours = run_python(*options, "-c", LAUNCH, "path", "link.py")
        theirs = run_python(*options, "link.py")
        assert comparable(ours) == comparable(theirs)


def test_spawned_workers_see_the_proxy(run_python, tmp_path):
    write(
        tmp_path / "program.py",
        """
        import multiprocessing, os, torch
        def work(value):
            import torch
            return torch.__path__[0].rpartition("/")[2], value.__module__, os.environ["MINDTORCH"]
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [torch.nn.Linear()]))
        """,
    )
    launch = (
        "import os, mindtorch_proxy as p; from mindtorch_proxy.environment import hand_on\n"
        "p.install(); hand_on(os.environ); p.run_path('program.py')"
    )
    result = run_python("-c", launch)
    assert result.stdout == "[('mindtorch', 'torch.nn.modules.linear', '1')]\n", result.stderr


def test_child_site_passes_on_to_the_shadowed_sitecustomize(run_python, tmp_path):
    (tmp_path / "site").mkdir()
    write(tmp_path / "site" / "sitecustomize.py", "print('theirs ran', flush=True)")
    code = (
        "import os, subprocess, sys; from mindtorch_proxy.environment import hand_on; hand_on(os.environ)\n"
        "subprocess.run([sys.executable, '-c', 'import torch, sys; print(torch.__path__[0][-9:], sys.path[1:2])'])"
    )
    result = run_python("-c", code, path=(tmp_path / "site",))
    lines = result.stdout.splitlines()
    assert lines[0] == "theirs ran"  # of this process
    assert lines[1] == "theirs ran"
    assert lines[2].startswith("mindtorch ")
    assert "/child_site'" not in lines[2]
