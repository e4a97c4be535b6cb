"""The table of compatibility says of every public name what a program that uses it finds: it works, raises or is missing."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "site"))
import reference

from mindtorch import _absence

CALLED = "torch nn nn.functional linalg fft special optim distributions utils.data"


def used(value):
    """Use a name as a program does: call it without arguments; None where it took that, else the error."""
    try:
        value()
    except (NotImplementedError, TypeError) as error:
        return error
    return None


def test_modules_named_as_functions_are_refused_as_those():
    with pytest.raises(NotImplementedError, match=r"^torch\.export\.unflatten: "):
        importlib.import_module("mindtorch.export.unflatten")()


@pytest.mark.filterwarnings("ignore")
def test_names_that_raise_say_why():
    absent = reference.absent_names()
    assert sum(map(len, absent.values())) > 500
    wrong = []
    for space, names in absent.items():
        module = importlib.import_module(space.replace("torch", "mindtorch", 1))
        for name in names:
            value = getattr(module, name)
            error = used(value)
            if not isinstance(error, NotImplementedError) or _absence.reason_of(value) not in str(error):
                wrong.append((space, name, error))
    assert wrong == []


def test_names_that_are_missing_are():
    missing = reference.missing_names()
    assert missing
    for space, names in missing.items():
        try:
            module = importlib.import_module(space.replace("torch", "mindtorch", 1))
        except ImportError:
            continue  # the whole namespace stands in the list of the one around it
        assert [name for name in names if hasattr(module, name)] == [], space


PROBE = """
import importlib, json, signal, sys, warnings
warnings.simplefilter("ignore")
found = {}
for space, names in json.load(sys.stdin).items():
    module = importlib.import_module(space.replace("torch", sys.argv[1], 1))
    for name in names:
        value = getattr(module, name, None)
        signal.alarm(20)
        try:
            value()
        except NotImplementedError as error:
            found[f"{space}.{name}"] = str(error)
        except BaseException:
            pass
print(json.dumps(found))
"""


def refused(library, names):
    """The names of a library that raise NotImplementedError when they are called without arguments."""
    call = [sys.executable, "-c", PROBE, library]
    done = subprocess.run(call, input=json.dumps(names), capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_names_that_work_are_not_refused():
    pytest.importorskip("torch", reason="oracle")
    spaces = [f"torch.{one}".removesuffix(".torch") for one in CALLED.split()]
    names = {
        space: reference.working_names(importlib.import_module(space.replace("torch", "mindtorch", 1)))
        for space in spaces
    }
    assert sum(map(len, names.values())) > 1200
    theirs = refused("torch", names)
    assert {name: why for name, why in refused("mindtorch", names).items() if name not in theirs} == {}


def test_a_row_counts_what_the_lists_have():
    page = reference.compatibility_page(["mindtorch", "mindtorch.export", "mindtorch.linalg"])
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| ") and "`" in line}
    absent = len(reference.absent_names()["torch.export"])
    works = len(reference.working_names(importlib.import_module("mindtorch.export")))
    assert rows["torch.export"].endswith(
        f"| {works} | 0 | {absent} | {len(reference.missing_names()['torch.export'])} |"
    )
    assert "`draft_export`" in page.partition("## Names that raise")[2]
