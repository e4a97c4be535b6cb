"""Operators that torch says it computes in an order that may change, and what it says of their calls when that is unwanted."""

from __future__ import annotations

import warnings

from ..determinism import on_change, wanted
from ..frames import frames_to_caller
from ..table import find_packet
from .call import Call

ALERTS = {
    "max_unpool2d": "max_unpooling2d_forward_out",
    "max_unpool3d": "max_unpooling3d_forward_out",
    "put": "put_",
    "put_": "put_",
}
"""Packets, and the names that torch gives them."""


def plan_anew(mode: bool) -> None:
    """Forget the plans of such operators: under another setting they have other things to say."""
    for name in ALERTS:
        packet = find_packet(name)
        if packet is not None:
            packet.forget_plans()


def alert(call: Call) -> None:
    """Raise torch's error of a call whose order may change, or give the warning: such a plan is used once."""
    packet = call.row.packet
    if packet in ALERTS and not (packet.startswith("put") and call.bound.values[3]):
        if wanted.enabled:
            call.bound.cacheable = False
        alert_of(ALERTS[packet])


def alert_of(name: str) -> None:
    """Raise torch's error of what it calls `name`, or give the warning, where determinism is asked for."""
    if not wanted.enabled:
        return
    ending = "You can {}file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic "
    ending += "support for this operation."
    said = f"{name} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True"
    if not wanted.warn_only:
        raise RuntimeError(
            f"{said})'. You can turn off determinism just for this operation, or you can use the 'warn_only=True' option, if "
            f"that's acceptable for your application. {ending.format('also ')}"
        )
    warnings.warn(f"{said}, warn_only=True)'. {ending.format('')}", UserWarning, stacklevel=frames_to_caller())


on_change("plans", plan_anew)
