"""`torch.distributed.rpc.api`: not offered: its names say so when they are used."""

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions

globals().update(functions(__name__, "_all_gather init_rpc shutdown get_worker_info remote rpc_async rpc_sync"))
globals().update(functions(__name__, "method_factory new_method"))
globals().update(classes(__name__, "AllGatherStates RRef"))


def _require_initialized(func: Callable[..., Any]) -> Callable[..., NoReturn]:
    """Return `func` with torch's error of calls before `init_rpc`, which never comes."""

    @functools.wraps(func)
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")

    return refuse


adopt(globals())
