"""Whether another module is new enough to pickle with."""

from __future__ import annotations

import warnings
from typing import Any


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Return whether a module's version is at least that of the tuple, field by field.

    A version that does not fit the tuple raises RuntimeError, or is warned of and taken as new enough.

    >>> import numpy
    >>> torch.serialization.check_module_version_greater_or_equal(numpy, (1, 0))
    True
    """
    fields = module.__version__.split(".")
    try:
        return tuple(type(wanted)(fields[place]) for place, wanted in enumerate(req_version_tuple)) >= req_version_tuple
    except (ValueError, IndexError, TypeError) as error:
        text = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared with "
            f"tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(text) from error
        warnings.warn(f"{text}, but continuing assuming that requirement is met", stacklevel=2)
        return True
