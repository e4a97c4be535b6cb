"""The engine by the names that `torch._C` and the private parts of `torch.autograd` give it."""

import io
import logging

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


def leaf(T):
    return T.ones(3, requires_grad=True)


@scenarios
def outside_of_a_pass(T):
    c, x = T._C, leaf(T)
    return [
        c._current_graph_task_id(),
        c._current_autograd_node(),
        c._autograd._get_current_graph_task_keep_graph(),
        caught(c._current_graph_task_execution_order),
        caught(lambda: c._will_engine_execute_node(x.exp().grad_fn)),
        caught(lambda: c._will_engine_execute_node(3)),
    ]


@scenarios.each(
    backward=lambda T, out, x, y: out.backward(),
    inputs=lambda T, out, x, y: out.backward(inputs=[x]),
    grad=lambda T, out, x, y: T.autograd.grad(out, [y]),
)
def order_of_a_pass(T, run):
    x, w, seen = leaf(T), leaf(T), []
    y = x * 2
    out = (y * w).exp().sum()

    def look(grad):
        seen.append([one.name() for one in T._C._current_graph_task_execution_order()])

    out.register_hook(look)
    multithreaded = caught(lambda: T.autograd.grad(out, [x], retain_graph=True))
    with T.autograd.set_multithreading_enabled(False):
        run(T, out, x, y)
    return seen, multithreaded


@scenarios
def inside_of_a_pass(T):
    c, seen = T._C, []
    x = leaf(T)
    y = (x * 2).exp()
    look = lambda *a: seen.append(  # noqa: E731
        (c._current_graph_task_id() >= 0, c._current_autograd_node(), c._autograd._get_current_graph_task_keep_graph())
    )
    y.register_hook(look)
    x.register_hook(look)
    x.register_post_accumulate_grad_hook(look)
    y.grad_fn.register_prehook(look)
    y.grad_fn.register_hook(look)
    y.register_hook(lambda g: seen.append(c._will_engine_execute_node(y.grad_fn)))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return seen, c._current_graph_task_id(), c._current_autograd_node()


@scenarios.each(
    one=lambda T, x: (T._C._increment_version(x), x._version),
    several=lambda T, x: (T._C._increment_version([x, x]), x._version),
    number=lambda T, x: T._C._increment_version(3),
    requires=lambda T, x: [T._C._any_requires_grad(*a) for a in ((x,), (T.ones(2),), ([x], 3), (), ((T.ones(1), x),))],
    requires_named=lambda T, x: T._C._any_requires_grad(1, a=x),
    grad_mode=lambda T, x: (T._C._set_grad_enabled(False), T._C.is_grad_enabled(), T._C._set_grad_enabled(True)),
    grad_mode_number=lambda T, x: T._C._set_grad_enabled(3),
    inference=lambda T, x: T._C.is_inference_mode_enabled(),
    forward=lambda T, x: (T._C._is_fwd_grad_enabled(), T.autograd.forward_ad._is_fwd_grad_enabled()),
    forward_number=lambda T, x: T._C._set_fwd_grad_enabled(3),
    replay=lambda T, x: (T._C._is_view_replay_enabled(), T._C._set_view_replay_enabled(False)),
    replay_number=lambda T, x: T._C._set_view_replay_enabled(1),
    mismatch=lambda T, x: (
        T.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False),
        T._C._warn_on_accumulate_grad_stream_mismatch(),
        T.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True),
    ),
    mismatch_number=lambda T, x: T.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(1),
    stale=lambda T, x: T.autograd.graph.set_override_stale_capture_stream(False),
    stale_number=lambda T, x: T.autograd.graph.set_override_stale_capture_stream(1),
    budget=lambda T, x: T.autograd.graph.region_activation_memory_budget(0.5),
    budget_bool=lambda T, x: T.autograd.graph.region_activation_memory_budget(True),
    budget_large=lambda T, x: T.autograd.graph.region_activation_memory_budget(2),
    gradient_node=lambda T, x: T.autograd.graph._get_grad_fn_or_grad_acc(x).name(),
    gradient_node_nowhere=lambda T, x: T.autograd.graph._get_grad_fn_or_grad_acc(T.ones(2)),
    identity=lambda T, x: T.autograd.graph._get_tid(x)[1:] == T.autograd.graph._get_sid(x),
    multithreading=lambda T, x: T.autograd.is_multithreading_enabled(),
    classes=lambda T, x: [
        isinstance(x.exp().grad_fn, T._C._functions.ExpBackward0),
        isinstance(x.view_as(x).grad_fn.next_functions[0][0], T._C._functions.AccumulateGrad),
    ],
    data=lambda T, x: T._C._autograd._get_data_attr(x),
    version=lambda T, x: (T._C._autograd._unsafe_set_version_counter((x,), (7,)), x._version),
    saved=lambda T, x: T._C._autograd._make_saved_tensor(x, False).unpack(),
)
def small_names(T, call):
    return caught(lambda: call(T, leaf(T)))


@scenarios
def inference_object(T):
    guard = T._C._InferenceMode(True)
    seen = [T.is_inference_mode_enabled(), T.is_grad_enabled()]
    del guard
    seen.append(T.is_inference_mode_enabled())
    with T._C._InferenceMode(True):
        seen.append(T.is_inference_mode_enabled())
    return [*seen, T.is_inference_mode_enabled(), T.is_grad_enabled()]


@scenarios
def kinds_of_views(T):
    get, set_, x = T._C._autograd._get_creation_meta, T._C._autograd._set_creation_meta, leaf(T)
    with T.no_grad():
        quiet = x[0:1]
    seen = [get(one).name for one in (x.view(3), quiet, x.unbind()[0])]
    seen.append(caught(lambda: get(x)))
    kinds = T._C._autograd.CreationMeta
    set_(quiet, kinds.DEFAULT)
    return [*seen, get(quiet).name, kinds.DEFAULT.value, str(kinds.DEFAULT), kinds(3).name, list(kinds.__members__)]


@scenarios
def default_hooks(T):
    a = T._C._autograd
    seen = [
        a._saved_tensors_hooks_is_enabled(),
        a._saved_tensors_hooks_get_disabled_error_message(),
        a._top_saved_tensors_default_hooks(False),
    ]
    a._push_saved_tensors_default_hooks(lambda t: 1, lambda t: t)
    top = a._top_saved_tensors_default_hooks(False)
    seen.append((len(top), top[0](2), top[1](3)))
    a._pop_saved_tensors_default_hooks()
    a._saved_tensors_hooks_disable("not now")
    seen += [a._saved_tensors_hooks_is_enabled(), a._saved_tensors_hooks_get_disabled_error_message()]
    seen.append(caught(lambda: a._push_saved_tensors_default_hooks(print, print)))
    a._saved_tensors_hooks_enable()
    seen.append(a._saved_tensors_hooks_is_enabled())
    with T.autograd.graph.disable_saved_tensors_hooks("outer"):
        with T.autograd.graph.disable_saved_tensors_hooks("inner"):
            seen.append(a._saved_tensors_hooks_get_disabled_error_message())
        seen.append(a._saved_tensors_hooks_get_disabled_error_message())
    return [*seen, a._saved_tensors_hooks_is_enabled()]


@scenarios.each(
    gradients=lambda T, x, run: run((x.exp().sum(),), (T.ones(()),), False, False, (x,)),
    accumulates=lambda T, x, run: (
        run((x.exp().sum(),), (T.ones(()),), False, False, (), allow_unreachable=True, accumulate_grad=True),
        x.grad,
    ),
    nowhere=lambda T, x, run: run((T.ones(3),), (None,), False, False, ()),
    without=lambda T, x, run: run((x.exp().sum(),), (None,), False, False, ()),
    single=lambda T, x, run: run(3, 3, False, False, (x,)),
    numbers=lambda T, x, run: run((3,), (3,), False, False, (x,)),
    lengths=lambda T, x, run: run((x,), (), False, False, (x,)),
    unused=lambda T, x, run: run((x.exp().sum(),), (T.ones(()),), False, False, (leaf(T),)),
    unused_allowed=lambda T, x, run: run((x.exp().sum(),), (T.ones(()),), False, False, (leaf(T),), True),
    module=lambda T, x, run: T.autograd._engine_run_backward((x.exp().sum(),), (T.ones(()),), False, True, (x,)),
    checkpoint=lambda T, x, run: T.autograd.Variable._execution_engine.is_checkpoint_valid(),
)
def engine(T, call):
    x = leaf(T)
    return caught(lambda: call(T, x, T.autograd.Variable._execution_engine.run_backward)), x.grad


@scenarios.each(**{"1": 1, "none": None, "text": "x"})
def layout_policy_of(T, value):
    return caught(lambda: T.autograd.enforce_grad_layout_policy(value))


@scenarios
def layout_policy(T):
    class Other(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return T.empty_strided((2, 3), (1, 2)).fill_(3.0)

    def strides():
        x, p = T.ones(2, 3, requires_grad=True), T.ones(2, 3, 4).permute(2, 0, 1).requires_grad_()
        Other.apply(x).sum().backward()
        (p * 2).sum().backward()
        return x.grad.stride(), p.grad.stride(), x.grad

    policy = T.autograd.enforce_grad_layout_policy
    seen = [strides()]
    with policy(False):
        seen.append(strides())
    seen += [strides(), policy(False).prev, strides(), policy(True).prev, strides()]
    return [*seen, policy(False)(strides)(), strides()]


@scenarios
def tokens_of_edges(T):
    class Plain(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(T)
    edges = [T.autograd.graph.get_gradient_edge(one) for one in (x, x.exp(), Plain.apply(x), x.unbind()[1])]
    return [(edge.node.name(), edge.output_nr, edge.ownership_token) for edge in edges]


@scenarios
def told_to_the_log(T):
    told, logger = io.StringIO(), logging.getLogger("torch.autograd.graph")
    handler, level, spread = logging.StreamHandler(told), logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    others, logger.handlers = logger.handlers, [handler]
    logger.propagate = False
    try:
        x = T.ones(2, 3, requires_grad=True)
        (x * 2).exp().sum().backward()
        T.autograd.grad(x.double().sin().sum(), x)
    finally:
        logger.handlers = [one for one in others if one is not handler]
        logger.setLevel(level)
        logger.propagate = spread
    (x * 2).exp().sum().backward()
    return told.getvalue().splitlines()


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
