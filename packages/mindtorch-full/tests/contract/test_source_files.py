"""`inspect` finds the source of public classes, whichever module of torch they are named by."""

from __future__ import annotations

import inspect

import pytest

import mindtorch as mt
import mindtorch.distributed
import mindtorch.distributions
import mindtorch.fx
import mindtorch.utils.checkpoint
import mindtorch.utils.data

MODULES = [
    mt.nn, mt.optim, mt.optim.lr_scheduler, mt.autograd, mt.distributions, mt.distributed, mt.fx, mt.amp, mt.utils.data,
    mt.utils.checkpoint,
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_source_of_a_public_class_is_found(module):
    classes = {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value) and not name.startswith("_") and value.__module__.startswith("torch.")
    }
    assert classes
    for name, value in classes.items():
        assert f"class {value.__name__}" in inspect.getsource(value), name


def test_classes_of_programs_are_found_as_before():
    class Net(mt.nn.Module):
        """Of this file."""

    assert inspect.getsourcefile(Net) == __file__
    assert '"""Of this file."""' in inspect.getsource(Net)
    with pytest.raises(TypeError, match="built-in class"):
        inspect.getfile(int)


def test_the_bases_of_a_module_can_be_read():
    class Net(mt.nn.Conv2d):
        pass

    sources = [inspect.getsource(cls) for cls in inspect.getmro(Net)[:-1]]
    assert [text.lstrip().split("(")[0].split(":")[0] for text in sources] == [
        f"class {cls.__name__}" for cls in inspect.getmro(Net)[:-1]
    ]
