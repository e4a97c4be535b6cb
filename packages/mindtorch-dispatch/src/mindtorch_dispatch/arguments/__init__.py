"""From a Python call to an overload and its values, with torch's rules and torch's words.

    rows = find_packet("add").rows
    parser = ArgumentParser("add", [(row.schema, row.schema.as_out()) for row in rows])     # torch.add; lazy and cheap
    parsed = parser.parse((x, 2.5), {"alpha": 3})
    row = rows[parsed.index]
    parsed.values      # [x, 2.5, 3]: schema order, defaults filled in, converted
    parsed.sources     # [0, 1, 2]: places in (*args, *kwargs.values()); None for defaults and converted values
    parsed.out, parsed.out_source, parsed.extras.get("requires_grad"), parsed.cacheable

    ArgumentParser("add", schemas, is_method=True).parse((self, other), {})                 # Tensor.add

A Tensor parameter of the functions in `tables.NUMBERS_AS_TENSORS` may hold a Python number in `values`; the planner
treats it as a wrapped number. Python numbers are passed on as given: a `float` parameter may hold an int.
`bind_overload(schema, args, kwargs)` is the stricter rule of `torch.ops.aten.add.Tensor`.
"""

from __future__ import annotations

from .overload import bind_overload
from .parser import ArgumentParser
from .signature import Parsed, PythonSignature

__all__ = ["ArgumentParser", "Parsed", "PythonSignature", "bind_overload"]
