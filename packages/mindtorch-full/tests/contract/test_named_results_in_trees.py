"""Classes of named results are nodes of trees, whatever a program called before it imported those."""

from __future__ import annotations

import subprocess
import sys

import pytest

LATE = """
import mindtorch as torch

x = torch.ones(2, 2)
torch.ops.aten.max.dim_max(x, 1, max=torch.empty(2), max_values=torch.empty(2, dtype=torch.int64))
from mindtorch.utils import _pytree

found = torch.max(x, 1, out=(torch.empty(2), torch.empty(2, dtype=torch.int64)))
leaves, spec = _pytree.tree_flatten(found)
print(len(leaves), type(_pytree.tree_unflatten(leaves, spec)).__name__)
"""


@pytest.mark.parametrize("form", ["max", "max_out"])
def test_results_made_before_trees_are_imported_are_nodes(form: str) -> None:
    program = (
        LATE if form == "max_out" else LATE.replace(", out=(torch.empty(2), torch.empty(2, dtype=torch.int64))", "")
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", program], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.returncode) == (f"2 {form}\n", 0), ran.stderr
