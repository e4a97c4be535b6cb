"""The `_copy` form of every view: the same geometry rule, over fresh contiguous memory."""

from ..decomp.view_copy import copy_of, narrow_copy
from ..table import op

VIEWS = {
    "alias_copy": "",
    "view_copy": "SymInt[] size",
    "view_copy.dtype": "ScalarType dtype",
    "expand_copy": "SymInt[] size, *, bool implicit=False",
    "permute_copy": "int[] dims",
    "transpose_copy.int": "int dim0, int dim1",
    "t_copy": "",
    "unsqueeze_copy": "int dim",
    "squeeze_copy": "",
    "squeeze_copy.dim": "int dim",
    "squeeze_copy.dims": "int[] dim",
    "select_copy.int": "int dim, SymInt index",
    "slice_copy.Tensor": "int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1",
    "as_strided_copy": "SymInt[] size, SymInt[] stride, SymInt? storage_offset=None",
    "unfold_copy": "int dimension, int size, int step",
    "diagonal_copy": "int offset=0, int dim1=0, int dim2=1",
    "view_as_real_copy": "",
    "view_as_complex_copy": "",
    "detach_copy": "",
}
"""Row name to the arguments after `self`."""

PIECES = {
    "unbind_copy.int": "int dim=0",
    "split_copy.Tensor": "SymInt split_size, int dim=0",
    "split_with_sizes_copy": "SymInt[] split_sizes, int dim=0",
}
"""The same for views that cut one tensor into several."""

for _table, _result in ((VIEWS, "Tensor"), (PIECES, "Tensor[]")):
    for _name, _arguments in _table.items():
        op(
            f"{_name}({', '.join(filter(None, ('Tensor self', _arguments)))}) -> {_result}",
            composite=copy_of(_name.partition(".")[0].removesuffix("_copy")),
            variants="function",
            out=True,
        )
op("narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor", composite=narrow_copy, out=True)
