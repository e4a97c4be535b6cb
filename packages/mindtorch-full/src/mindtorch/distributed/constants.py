"""Times that are waited for other processes."""

from datetime import timedelta

from mindtorch._naming import adopt

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_timeout = timedelta(minutes=30)
default_pg_nccl_timeout: timedelta | None = timedelta(minutes=10)

adopt(globals())
