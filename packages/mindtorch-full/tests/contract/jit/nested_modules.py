"""A scripted module whose children have classes of one name, and the code in its archive.

python nested_modules.py torch        the files of code, as JSON, from a process that has scripted nothing else
"""

import importlib
import io
import json
import sys
import zipfile


def nested(lib):
    """A module whose children have classes of one name: they differ in an attribute, and in a parameter that is None."""

    class Inner(lib.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.linear = lib.nn.Linear(2, size)

        def forward(self, x):
            return self.linear(x)

    class Outer(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Inner(2), Inner(3)
            self.last = lib.nn.Linear(2, 3, bias=False)
            self.second.flag = True
            self.count, self.rate, self.nothing = 3, 0.5, None
            self.register_buffer("absent", None)

        def forward(self, x):
            return self.first(x).sum() * self.count + self.second(x).sum() + self.last(x).sum() * self.rate

    return lib.jit.script(Outer())


def texts_of(module):
    """The files of code in an archive of a module, each class's fields without the constants, whose order is a set's."""
    archive = zipfile.ZipFile(io.BytesIO(module.save_to_buffer()))
    names = [name for name in archive.namelist() if name.endswith(".py")]
    lines = {name.partition("/")[2]: archive.read(name).decode().splitlines() for name in names}
    return {name: sorted(line for line in text if "Final[" not in line) for name, text in lines.items()}


if __name__ == "__main__":
    print(json.dumps(texts_of(nested(importlib.import_module(sys.argv[1])))))
