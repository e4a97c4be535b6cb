"""Nodes that meet in rounds over a shared state: they may come later, leave, or die, and the others go on.

A node reads the state, decides, changes its copy, and writes it back if nobody was quicker: no node leads.
"""

from __future__ import annotations

import logging
import pickle
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.elastic.events import NodeState, construct_and_record_rdzv_event
from mindtorch.distributed.elastic.rendezvous._rendezvous_state import (
    RendezvousBackend,
    RendezvousSettings,
    RendezvousTimeout,
    Token,
    _Action,
    _NodeDesc,
    _NodeDescGenerator,
    _remove_participant_epilogue,
    _RendezvousContext,
    _RendezvousState,
    _RendezvousStateHolder,
)
from mindtorch.distributed.elastic.rendezvous._round_handler import RoundHandler, events_of
from mindtorch.distributed.elastic.rendezvous.api import (
    RendezvousClosedError,
    RendezvousError,
    RendezvousParameters,
    RendezvousStateError,
    RendezvousTimeoutError,
)
from mindtorch.distributed.elastic.rendezvous.utils import _delay

__all__ = [
    "DynamicRendezvousHandler",
    "RendezvousBackend",
    "RendezvousSettings",
    "RendezvousTimeout",
    "create_handler",
]

logger = logging.getLogger("torch.distributed.elastic.rendezvous.dynamic_rendezvous")

_ROLLBACK_SECONDS = 5.0
"""How long after its time a node still takes itself out of the lists."""
_FIRST_SKEW = (0.0, 0.3)
"""Seconds by which the first round's nodes are spread, so that they do not all write at once."""


class _BackendRendezvousStateHolder(_RendezvousStateHolder):
    """A node's copy of the state that lies with a backend."""

    def __init__(self, backend: RendezvousBackend, settings: RendezvousSettings, cache_duration: int = 1) -> None:
        self._backend = backend
        self._state = _RendezvousState()
        self._settings = settings
        self._cache_duration = cache_duration
        self._token: Token = None
        self._dirty = False
        self._last_sync_time = -1.0
        self._dead_nodes: list[_NodeDesc] = []

    def _record(self, message: str, node_state: NodeState = NodeState.RUNNING) -> None:
        event = events_of(self, self._settings.run_id, None)
        construct_and_record_rdzv_event(message=message, node_state=node_state, **event)

    @property
    def state(self) -> _RendezvousState:
        """Return the copy."""
        return self._state

    def sync(self) -> bool | None:
        """Write the copy if it was changed, else read unless it was read just now."""
        has_set: bool | None = None
        if self._dirty:
            written = self._backend.set_state(pickle.dumps(self._state), self._token)
            has_set = written is not None and written[2]
            if written is not None:  # else the backend says nothing of what it holds
                self._take(written[:2])
        else:
            oldest = max(time.monotonic() - self._cache_duration, 0)
            if self._cache_duration > 0 and self._last_sync_time >= oldest:
                return None
            self._take(self._backend.get_state())
        self._dirty = False
        self._last_sync_time = time.monotonic()
        self._sanitize()
        return has_set

    def _take(self, held: tuple[bytes, Token] | None) -> None:
        """Make what the backend holds the copy."""
        if held is None:
            self._state = _RendezvousState()
            return
        bits, self._token = held
        try:
            self._state = pickle.loads(bits)
        except pickle.PickleError as error:
            raise RendezvousStateError("The rendezvous state is corrupt. See inner exception for details.") from error

    def _sanitize(self) -> None:
        """Take out the nodes that were not heard of for long."""
        state, settings = self._state, self._settings
        oldest = datetime.now(UTC) - settings.keep_alive_interval * settings.keep_alive_max_attempt
        self._dead_nodes = [node for node, heard in state.last_heartbeats.items() if heard < oldest]
        removed = False
        for node in self._dead_nodes:
            message = f"Detected dead node '{node}', removing it from the rendezvous"
            logger.debug(message)
            self._record(message)
            del state.last_heartbeats[node]
            removed = state.participants.pop(node, None) is not None or removed
            state.wait_list.discard(node)
            state.redundancy_list.discard(node)
        if removed:
            _remove_participant_epilogue(state, settings)

    def mark_dirty(self) -> None:
        """Note that the copy was changed: the next `sync` writes it, if nobody else wrote."""
        self._dirty = True


class _RendezvousOpExecutor(ABC):
    """Carries out an operation, action by action."""

    @abstractmethod
    def run(
        self,
        state_handler: Callable[[_RendezvousContext, float], _Action],
        deadline: float,
        update_deadline: Callable[[timedelta], float] | None = None,
    ) -> None:
        """Do what `state_handler` says until it says that it is done."""


class _DistributedRendezvousOpExecutor(_RendezvousOpExecutor):
    """Carries out operations on a state that other nodes change too."""

    def __init__(self, node: _NodeDesc, state_holder: _RendezvousStateHolder, settings: RendezvousSettings) -> None:
        self._node = node
        self._state_holder = state_holder
        self._settings = settings

    @property
    def _state(self) -> _RendezvousState:
        return self._state_holder.state

    def _record(self, message: str, node_state: NodeState = NodeState.RUNNING) -> None:
        event = events_of(self, self._settings.run_id, self._node)
        construct_and_record_rdzv_event(message=message, node_state=node_state, **event)

    def run(
        self,
        state_handler: Callable[[_RendezvousContext, float], _Action],
        deadline: float,
        update_deadline: Callable[[timedelta], float] | None = None,
    ) -> None:
        """Read the state, decide, change it, and again: a change that came too late is decided anew."""
        while True:
            self._state_holder.sync()
            context = _RendezvousContext(self._node, self._state, self._settings)
            action = state_handler(context, deadline)
            if action is _Action.FINISH:
                return
            if action is _Action.ERROR_CLOSED:
                raise RendezvousClosedError
            if action is _Action.ERROR_TIMEOUT:
                raise RendezvousTimeoutError
            if action is _Action.SYNC:
                _delay(seconds=1)
                continue
            getattr(self, f"_{action.name.lower()}")()
            message = f"The node '{self._node}' carried out {action.name} in round {self._state.round}"
            logger.debug(message)
            self._record(message)
            if action is _Action.REMOVE_FROM_REDUNDANCY_LIST and update_deadline:
                deadline = update_deadline(self._settings.timeout.join)  # its turn begins now
            self._state_holder.mark_dirty()

    def _keep_alive(self) -> None:
        self._state.last_heartbeats[self._node] = datetime.now(UTC)

    def _add_to_participants(self) -> None:
        state = self._state
        state.wait_list.discard(self._node)
        state.participants[self._node] = 0  # the ranks are given when the round is complete
        self._keep_alive()
        if len(state.participants) == self._settings.min_nodes:
            state.deadline = datetime.now(UTC) + self._settings.timeout.last_call
        if len(state.participants) == self._settings.max_nodes:
            self._mark_rendezvous_complete()

    def _add_to_wait_list(self) -> None:
        self._state.redundancy_list.discard(self._node)
        self._state.wait_list.add(self._node)
        self._keep_alive()

    def _add_to_redundancy_list(self) -> None:
        self._state.redundancy_list.add(self._node)
        self._keep_alive()

    def _remove_from_participants(self) -> None:
        del self._state.participants[self._node]
        self._state.last_heartbeats.pop(self._node, None)
        _remove_participant_epilogue(self._state, self._settings)

    def _remove_from_wait_list(self) -> None:
        self._state.wait_list.discard(self._node)
        self._state.last_heartbeats.pop(self._node, None)

    def _remove_from_redundancy_list(self) -> None:
        self._state.redundancy_list.discard(self._node)
        self._state.last_heartbeats.pop(self._node, None)

    def _mark_rendezvous_complete(self) -> None:
        self._state.complete = True
        self._state.deadline = None
        for rank, node in enumerate(sorted(self._state.participants)):
            self._state.participants[node] = rank

    def _mark_rendezvous_closed(self) -> None:
        self._state.closed = True


def _should_keep_alive(ctx: _RendezvousContext) -> bool:
    """Whether it is time for a sign of life of a node that gave one before."""
    heard = ctx.state.last_heartbeats.get(ctx.node)
    return heard is not None and heard <= datetime.now(UTC) - ctx.settings.keep_alive_interval


class _RendezvousExitOp:
    """Leave the round."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if ctx.node not in ctx.state.participants:
            return _Action.FINISH
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else _Action.REMOVE_FROM_PARTICIPANTS


class _RendezvousJoinOp:
    """Take part in this round, or wait for the next."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        state, node = ctx.state, ctx.node
        if state.closed:
            return _Action.ERROR_CLOSED
        if node in state.redundancy_list:
            if len(state.participants) < ctx.settings.max_nodes:
                return _Action.REMOVE_FROM_REDUNDANCY_LIST
            return self._waits(ctx)  # without end: it stands in for a node that may leave any time
        takes_part = node in state.participants
        if state.complete and takes_part:
            return _Action.FINISH
        now = time.monotonic()
        if now > deadline:
            if now <= deadline + _ROLLBACK_SECONDS and takes_part:
                return _Action.REMOVE_FROM_PARTICIPANTS
            if now <= deadline + _ROLLBACK_SECONDS and node in state.wait_list:
                return _Action.REMOVE_FROM_WAIT_LIST
            return _Action.ERROR_TIMEOUT
        if not state.complete and not takes_part:
            return _Action.ADD_TO_PARTICIPANTS
        if state.complete and node not in state.wait_list:
            full = len(state.participants) >= ctx.settings.max_nodes
            return _Action.ADD_TO_REDUNDANCY_LIST if full else _Action.ADD_TO_WAIT_LIST
        enough = len(state.participants) >= ctx.settings.min_nodes
        if takes_part and enough and state.deadline is not None and state.deadline < datetime.now(UTC):
            return _Action.MARK_RENDEZVOUS_COMPLETE
        return self._waits(ctx)

    @staticmethod
    def _waits(ctx: _RendezvousContext) -> _Action:
        return _Action.KEEP_ALIVE if _should_keep_alive(ctx) else _Action.SYNC


class _RendezvousCloseOp:
    """End the run."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if ctx.state.closed:
            return _Action.FINISH
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else _Action.MARK_RENDEZVOUS_CLOSED


class _RendezvousKeepAliveOp:
    """Give a sign of life when it is time."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if not _should_keep_alive(ctx):
            return _Action.FINISH
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else _Action.KEEP_ALIVE


class DynamicRendezvousHandler(RoundHandler):
    """One node's side."""

    _node_desc_generator = _NodeDescGenerator()

    @classmethod
    def from_backend(
        cls,
        run_id: str,
        store: dist.Store,
        backend: RendezvousBackend,
        min_nodes: int,
        max_nodes: int,
        local_addr: str | None = None,
        timeout: RendezvousTimeout | None = None,
        keep_alive_interval: int = 5,
        keep_alive_max_attempt: int = 3,
    ) -> DynamicRendezvousHandler:
        """Make a handler over a backend; `store` is what the workers of a round share."""
        node = cls._node_desc_generator.generate(local_addr)
        settings = RendezvousSettings(
            run_id,
            min_nodes,
            max_nodes,
            timeout or RendezvousTimeout(),
            keep_alive_interval=timedelta(seconds=keep_alive_interval),
            keep_alive_max_attempt=keep_alive_max_attempt,
        )
        return cls(node, settings, backend.name, store, _BackendRendezvousStateHolder(backend, settings))

    def __init__(
        self,
        node: _NodeDesc,
        settings: RendezvousSettings,
        backend_name: str,
        store: dist.Store,
        state_holder: _RendezvousStateHolder,
    ) -> None:
        super().__init__(node, settings, backend_name, store, state_holder)
        self._op_executor = _DistributedRendezvousOpExecutor(node, state_holder, settings)

    def _meet(self) -> None:
        if self._state_holder.state.round == 0:
            _delay(seconds=_FIRST_SKEW)
        deadline = self._get_deadline(self._settings.timeout.join)
        self._op_executor.run(_RendezvousExitOp(), deadline)
        self._op_executor.run(_RendezvousJoinOp(), deadline, self._get_deadline)

    def _close(self) -> None:
        self._op_executor.run(_RendezvousCloseOp(), self._get_deadline(self._settings.timeout.close))

    def _keep_alive(self) -> None:
        with self._heartbeat_lock:
            deadline = self._get_deadline(self._settings.timeout.heartbeat)
            try:
                self._op_executor.run(_RendezvousKeepAliveOp(), deadline)
            except RendezvousError as error:  # the next sign may come through
                logger.warning("The node '%s' could not give a sign of life: %r", self._this_node, error)

    def _get_deadline(self, timeout: timedelta) -> float:
        return time.monotonic() + timeout.total_seconds()


def _get_timeout(params: RendezvousParameters, key: str) -> timedelta | None:
    seconds = params.get_as_int(f"{key}_timeout")
    return None if seconds is None else timedelta(seconds=seconds)


def create_handler(
    store: dist.Store, backend: RendezvousBackend, params: RendezvousParameters
) -> DynamicRendezvousHandler:
    """Make a handler of what a command line says."""
    try:
        timeout = RendezvousTimeout(*(_get_timeout(params, key) for key in ("join", "last_call", "close", "heartbeat")))
        interval = params.get_as_int("keep_alive_interval", 5)
        attempts = params.get_as_int("keep_alive_max_attempt", 3)
        if interval is None or attempts is None:
            raise TypeError("keep_alive_interval and keep_alive_max_attempt must be numbers")
        return DynamicRendezvousHandler.from_backend(
            params.run_id,
            store,
            backend,
            params.min_nodes,
            params.max_nodes,
            params.local_addr,
            timeout,
            keep_alive_interval=interval,
            keep_alive_max_attempt=attempts,
        )
    except Exception as error:
        construct_and_record_rdzv_event(
            message=f"{type(error).__name__}: {traceback.format_exc()}",
            run_id=params.run_id,
            node_state=NodeState.FAILED,
        )
        raise


adopt(globals())
