"""The planner: everything an op call means, worked out once per geometry.

`plan_call` takes a bound call (which overload, which values, from where in the call they came) and returns a `Plan`.
It is ordinary Python and holds all semantics. The stages are functions in the order in which they run:

    keys      which dispatch keys the call passes, on which device
    kernel    whose function answers it: a handler, a registered kernel, a composition, the device's kernel
    meta      what the results are; errors for wrong arguments
    routing   which value of the call goes where in the kernel's arguments, how results are made and packed
    record    what autograd has to record, and the signatures of the results that follow from it

Autograd's objections to what is written come before all others, as in torch, and for most ops those to its memory; the
rest of the target is checked last, shape and dtype before a kernel that lacks the dtype. Every stage writes into one
`Call`. The executor only carries plans out.
"""

from __future__ import annotations

from ..arguments.bound import Bound
from ..pipeline.deferral import deferred
from ..state import state
from .call import Call
from .determinism import alert
from .family import family_of
from .kernel import choose_kernel
from .keys import find_keys
from .meta import describe_results
from .notices import give_notice
from .plan import Plan
from .record import attach_recorder
from .routing import route_values
from .targets import check_target, look_at_memory, refuse_recorded_write


def plan_call(bound: Bound) -> Plan:
    """Return the plan of a bound call; raises what the op raises for wrong arguments."""
    return _through_stages(Call(bound, state.mode))


def _through_stages(call: Call) -> Plan:
    batched = find_keys(call)
    if batched is not None:
        call.plan = batched
    else:
        choose_kernel(call)
        refuse_recorded_write(call)
        try:
            _describe(call)
        except Exception:
            look_at_memory(call)
            raise
        give_notice(call)
        call.bound.family = family_of(call)
    return deferred(call)


def _describe(call: Call) -> None:
    describe_results(call)
    route_values(call)
    attach_recorder(call)
    alert(call)
    check_target(call)
    if call.answer.refused is not None and call.device.type != "meta":
        raise call.answer.refused
