"""A device of a process: `cpu`, `rank:1/cuda:0`, `worker/cpu`."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._naming import adopt

_FORMATS = "'<workername>/<device>' or 'rank:<rank>/<device>' or '<device>'"


class _remote_device:
    """Names a device, and the process that it belongs to where that is said."""

    def __init__(self, remote_device: str | torch.device) -> None:
        text = str(remote_device)
        parts = text.split("/")
        self._worker_name: str | None = None
        self._rank: int | None = None
        device: str | torch.device = "cpu"
        error = ValueError(f"Could not parse remote_device: {text}. The valid format is {_FORMATS}")
        if len(parts) > 2:
            raise error
        if len(parts) == 2:
            self._worker_name, device = parts
        elif _is_device(parts[0]):
            device = parts[0]
        else:
            self._worker_name = parts[0]
        self._remote_device = text
        self._device = torch.device(device)
        if self._worker_name is not None and self._worker_name.startswith("rank:"):
            number = self._worker_name.removeprefix("rank:")
            if not number.isdecimal():
                raise error
            self._rank, self._worker_name = int(number), None

    def worker_name(self) -> str | None:
        """Return the process' name, None where a rank or nothing is said."""
        return self._worker_name

    def rank(self) -> int | None:
        """Return the process' rank, None where a name or nothing is said."""
        return self._rank

    def device(self) -> torch.device:
        """Return the device."""
        return self._device

    def __repr__(self) -> str:
        if self._worker_name is not None:
            return f"{self._worker_name}/{self._device}"
        return str(self._device) if self._rank is None else f"rank:{self._rank}/{self._device}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _remote_device) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def _is_device(text: str) -> bool:
    try:
        torch.device(text)
    except RuntimeError:  # it is the name of a process
        return False
    return True


adopt(globals())
