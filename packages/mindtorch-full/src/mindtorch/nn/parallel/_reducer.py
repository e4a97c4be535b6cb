"""Averaging gradients between processes while backward still computes others."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch.nn.parallel import _reducer_texts as texts
from mindtorch.nn.parallel._buckets import Bucket, BucketConfig, GradBucket, assign_buckets


class Reducer:
    """The buckets of one module, and a hook on every parameter that fills them."""

    def __init__(
        self,
        parameters: Sequence[Any],
        names: Sequence[str],
        expect_sparse: Sequence[bool],
        process_group: Any,
        config: BucketConfig,
        find_unused: bool,
        as_view: bool,
        batched: bool = False,
    ) -> None:
        self.parameters, self.names, self.expect_sparse = list(parameters), list(names), list(expect_sparse)
        self.process_group, self.config = process_group, config
        self.find_unused, self.as_view, self.static_graph = find_unused, as_view, False
        self.batched = batched
        self.comm_hook: tuple[Any, Callable[..., Any]] | None = None
        self.steps_in_backward = False
        self.iterations = 0
        self.forward_work: Any = None
        self.divide_by_initial = False
        self.rebuilt = False
        self.on_rebuilt_order: list[int] = []
        self._triggered = [0] * len(self.parameters)
        self._remaining: list[int] = []
        self._expecting = False
        self._finished = True
        self._divisor = 1
        # On the device of the parameters, whose backend the group has.
        self._used = torch.zeros(len(self.parameters), dtype=torch.int32, device=self.parameters[0].device)
        self._used_work: Any = None
        self._futures: list[Any] = []
        groups = assign_buckets(self.parameters, config.initial(not find_unused), self.expect_sparse)
        self._make_buckets(list(reversed(groups)))
        self._accumulators = [p.expand_as(p).grad_fn.next_functions[0][0] for p in self.parameters]
        self._hooks = [
            accumulator.register_hook(lambda *_, index=index: self._on_gradient(index))
            for index, accumulator in enumerate(self._accumulators)
        ]

    # The buckets

    def _make_buckets(self, groups: Iterable[Sequence[int]]) -> None:
        self.buckets = [Bucket(group, self.parameters, self.expect_sparse[group[0]]) for group in groups]
        self._place = {
            index: (bucket, position) for bucket in self.buckets for position, index in enumerate(bucket.indices)
        }

    def bucket_sizes(self) -> str:
        """Return the bytes of every bucket."""
        sizes = [sum(p.numel() * p.element_size() for p in bucket.parameters) for bucket in self.buckets]
        return ", ".join(map(str, sizes))

    def rebuild_buckets(self) -> bool:
        """Once the order in which gradients come is known, make buckets of it, the same on every rank."""
        self.ensure_finished()
        if self.rebuilt or self._finds_unused() or not self.on_rebuilt_order:
            return False
        order = self.on_rebuilt_order
        if len(order) != len(self.parameters):
            return False
        groups = assign_buckets(
            [self.parameters[index] for index in order], self.config.rebuilt(), self.expect_sparse, order
        )
        flat = [entry for group in groups for entry in (len(group), *group)]
        shared = torch.tensor(flat + [0] * (2 * len(order) - len(flat)), device=self.parameters[0].device)
        torch.distributed.utils._broadcast_one(self.process_group, shared, 0)
        entries, groups = shared.tolist(), []
        while sum(map(len, groups)) < len(order):
            start = sum(map(len, groups)) + len(groups)
            groups.append(entries[start + 1 : start + 1 + entries[start]])
        self._make_buckets(groups)
        self.rebuilt = True
        self.on_rebuilt_order = []
        return True

    # An iteration

    _rebuild_buckets = rebuild_buckets

    def prepare_for_forward(self) -> None:
        """Count an iteration."""
        self.iterations += 1

    def prepare_for_backward(self, outputs: Sequence[Any]) -> None:
        """Expect gradients; with unused parameters to be found, mark those that `outputs` do not depend on."""
        self._expecting = True
        self._next = 0
        self._ready: set[int] = set()
        self._marked_unused = False
        self._unused: list[int] = []
        self._remaining = list(self._triggered)
        self._divisor = 0
        for bucket in self.buckets:
            bucket.pending, bucket.work, bucket.future = len(bucket.indices), None, None
        if self._finds_unused():
            self._used.zero_()
            if outputs:
                self._unused = self._not_reached(outputs)
                if not self._unused and not getattr(self, "_told_no_unused", False):
                    self._told_no_unused = True
                    self._warn_no_unused()
        elif self.static_graph and self.iterations > 1:
            self._unused = [index for index, count in enumerate(self._triggered) if count == 0]

    def _warn_no_unused(self) -> None:
        warnings.warn(
            "find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in "
            "the forward pass. This flag results in an extra traversal of the autograd graph every iteration,  which "
            "can adversely affect performance. If your model indeed never has any unused parameters in the forward "
            "pass, consider turning this flag off. Note that this warning may be a false positive if your model has "
            "flow control causing later iterations to have unused parameters.",
            stacklevel=5,
        )

    def _not_reached(self, outputs: Sequence[Any]) -> list[int]:
        seen: set[int] = set()
        waiting = [output.grad_fn for output in outputs if output.grad_fn is not None]
        missing = {id(accumulator): index for index, accumulator in enumerate(self._accumulators)}
        own = {id(parameter): index for index, parameter in enumerate(self.parameters)}
        direct = {own[id(output)] for output in outputs if id(output) in own}
        kept = []
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            kept.append(node)  # so that no other node gets its id
            missing.pop(id(node), None)
            waiting += [following for following, _ in node.next_functions if following is not None]
        return [index for index in missing.values() if index not in direct]

    def _finds_unused(self) -> bool:
        return self.find_unused and not self.static_graph

    def _first_static(self) -> bool:
        return self.static_graph and self.iterations == 1

    def _on_gradient(self, index: int) -> None:
        """A parameter's gradient has been accumulated."""
        with torch.no_grad():
            if self._finds_unused() or self._first_static():
                self._used[index] = 1
            if not self._expecting:
                return
            if self._first_static():
                self._triggered[index] += 1
                return
            if not self._marked_unused:
                self._marked_unused = True
                for unused in self._unused:
                    self._mark_ready(unused)
            if self.static_graph:
                if self._remaining[index] <= 0:
                    raise RuntimeError(texts.NOW_USED)
                self._remaining[index] -= 1
                if self._remaining[index] != 0:
                    return
            self._mark_ready(index)

    def delay_all_reduce(self) -> None:
        """End the first backward pass of a static graph: now it is known what is used. It must not be one without sums."""
        if not self._expecting:
            raise RuntimeError(texts.NOT_EXPECTED)
        with torch.no_grad():
            self._share_used()
            for index in range(len(self.parameters)):
                self._mark_ready(index)

    def _share_used(self) -> None:
        self._used_work = torch.distributed.all_reduce(self._used, group=self.process_group, async_op=True)

    def _world(self) -> int:
        """What sums are divided by: the processes that take part, or all of them."""
        if self._divisor == 0:
            self._divisor = self.process_group.size()
            if self.forward_work is not None:
                work, taking_part = self.forward_work
                work.wait()
                if not self.divide_by_initial:
                    self._divisor = int(taking_part.item())
        return self._divisor

    def _mark_ready(self, index: int) -> None:
        if index in self._ready:
            self._raise_twice(index)
        self._ready.add(index)
        self._finished = False  # from now on the next iteration needs an end of this one
        if not self.rebuilt and not self._finds_unused():
            self.on_rebuilt_order.append(index)
        bucket, position = self._place[index]
        gradient = self.parameters[index].grad
        if bucket.sparse:
            self._fill_sparse(bucket, gradient)
        elif not self.batched:
            self._fill(bucket.views[position], index, gradient)
        bucket.pending -= 1
        while self._next < len(self.buckets) and self.buckets[self._next].pending == 0:
            if self.batched and not self.buckets[self._next].sparse:
                self._fill_together(self.buckets[self._next])
            self._reduce(self.buckets[self._next], self._next)
            self._next += 1
        if self._next == len(self.buckets) and len(self._ready) == len(self.parameters):
            if self._finds_unused():
                self._share_used()
            torch.autograd.Variable._execution_engine.queue_callback(self._finalize)

    def _fill(self, view: Any, index: int, gradient: Any) -> None:
        if gradient is None:
            view.zero_()
            return
        mine = gradient.data_ptr() == view.data_ptr() and gradient.numel() > 0
        if self.comm_hook is None and self._world() != 1:
            if mine:
                view.mul_(1.0 / self._world())
            else:
                torch.mul(gradient.detach(), 1.0 / self._world(), out=view)
        elif not mine:
            view.copy_(gradient)
        if self.as_view and not mine:
            self.parameters[index].grad = view

    def _fill_together(self, bucket: Bucket) -> None:
        """Fill a bucket at once: one copy of all gradients, one division."""
        views, gradients = [], []
        for view, parameter in zip(bucket.views, bucket.parameters, strict=True):
            gradient = parameter.grad
            if gradient is None:
                view.zero_()
            elif gradient.data_ptr() != view.data_ptr() or not gradient.numel():
                views.append(view)
                gradients.append(gradient.detach())
            if self.as_view and gradient is not None:
                parameter.grad = view
        if views:
            torch._foreach_copy_(views, gradients)
        if self.comm_hook is None and self._world() != 1:
            bucket.flat.div_(self._world())

    def _fill_sparse(self, bucket: Bucket, gradient: Any) -> None:
        if gradient is None:
            raise RuntimeError("Encountered a sparse parameter without gradient")
        bucket.flat = gradient / self._world() if self.comm_hook is None else gradient

    def _reduce(self, bucket: Bucket, index: int) -> None:
        if self.comm_hook is None:
            self._all_reduce(bucket)
            return
        state, hook = self.comm_hook
        bucket.future = hook(state, GradBucket(bucket, index, len(self.buckets)))
        if not isinstance(bucket.future, torch.futures.Future):
            raise RuntimeError(texts.no_future(type(bucket.future)))

    def _all_reduce(self, bucket: Bucket) -> None:
        if type(self.process_group) is torch.distributed.ProcessGroup:
            bucket.work = torch.distributed.all_reduce(bucket.flat, group=self.process_group, async_op=True)
            return
        # A group of a program's own says by a future when it is done.
        options = torch.distributed.AllreduceOptions()
        options.asyncOp = True
        bucket.work = self.process_group.allreduce([bucket.flat], options)
        bucket.future = bucket.work.get_future()

    def _finalize(self) -> None:
        """Wait for the averages and hand them to the parameters."""
        self._expecting = False
        with torch.no_grad():
            unused = self._globally_unused()
            for bucket in self.buckets:
                result = self._result(bucket)
                if bucket.sparse:
                    bucket.parameters[0].grad = result
                    continue
                same = result is bucket.flat or result.data_ptr() == bucket.flat.data_ptr()
                averages = bucket.views if same else bucket.views_of(result.reshape(-1))
                self._hand_out(bucket, averages, unused)
        for future in self._futures:
            future.wait()
        self._futures = []
        self.forward_work = None
        self._finished = True

    def _result(self, bucket: Bucket) -> Any:
        if bucket.future is not None:
            value = bucket.future.wait()
            return value[0] if isinstance(value, (list, tuple)) else value
        bucket.work.wait()
        return bucket.work.result()[0] if bucket.sparse else bucket.flat

    def _globally_unused(self) -> set[int]:
        """Parameters that no process used keep the gradients that they have."""
        if self._finds_unused() or self.static_graph:  # a static graph's are those of its first pass
            self._used_work.wait()
            return {index for index, count in enumerate(self._used.tolist()) if count == 0}
        return set()

    def _hand_out(self, bucket: Bucket, averages: Sequence[Any], unused: set[int]) -> None:
        for index, parameter, view, average in zip(
            bucket.indices, bucket.parameters, bucket.views, averages, strict=True
        ):
            if index in unused:
                continue
            if self.steps_in_backward and hasattr(parameter, "_in_backward_optimizers"):
                parameter.grad = None  # its optimizers have made their step
                continue
            if self.as_view:
                if average is not view:
                    view.copy_(average)
                parameter.grad = view
            elif parameter.grad is None:
                parameter.grad = average.clone()
            else:
                parameter.grad.copy_(average)

    # Uneven inputs

    def shadow_backward(self) -> None:
        """Take part in the reductions of a backward pass with zeros."""
        self._divisor = 0
        for bucket in self.buckets:
            bucket.flat.zero_()
        for index, bucket in enumerate(self.buckets):
            self._reduce(bucket, index)
        for bucket in self.buckets:
            self._result(bucket)

    def shadow_used(self) -> None:
        """Take part in finding unused parameters."""
        self._used.zero_()
        torch.distributed.all_reduce(self._used, group=self.process_group)

    def push_all_rebuilt(self) -> None:
        """Take the parameters' own order where this process saw no gradient."""
        if not self.rebuilt and not self.find_unused:
            self.on_rebuilt_order = list(range(len(self.parameters)))

    # Errors

    def ensure_finished(self) -> None:
        """Raise when a backward pass did not reach every parameter."""
        if self._finished:
            return
        if self.static_graph:
            text = texts.UNFINISHED + texts.CHANGED
        else:
            text = (
                texts.UNFINISHED + texts.UNUSED + (texts.ENABLED if self.find_unused else texts.ENABLE) + texts.LOCATE
            )
        missing = [index for index in range(len(self.parameters)) if index not in self._ready]
        if missing:
            rank, shown = self.process_group.rank(), " ".join(map(str, missing))
            if os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper() in ("INFO", "DETAIL"):
                text += f"\nParameters which did not receive grad for rank {rank}: "
                text += ", ".join(self.names[index] for index in missing)
                text += f"\nParameter indices which did not receive grad for rank {rank}: {shown}"
            else:
                text += f"\nParameter indices which did not receive grad for rank {rank}: {shown}" + texts.DEBUG
        raise RuntimeError(text)

    def _raise_twice(self, index: int) -> None:
        raise RuntimeError(
            f"{texts.TWICE}\nParameter at index {index} with name {self.names[index]} has been marked as ready twice. "
            "This means that multiple autograd engine  hooks have fired for this particular parameter during this iteration."
        )

    def remove_hooks(self) -> None:
        """Take the hooks from the parameters."""
        for hook in self._hooks:
            hook.remove()
