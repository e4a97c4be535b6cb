"""Learning-rate sequences, states, warnings and errors of every schedule equal torch's."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


def _optimizer(lib, name="SGD", groups=2, **options):
    options = {"lr": 0.1, "momentum": 0.9, **options} if name == "SGD" else {"lr": 0.1, **options}
    params = [{"params": [lib.nn.Parameter(lib.zeros(2))], "lr": options["lr"] / (i + 1)} for i in range(groups)]
    return getattr(lib.optim, name)(params, **options)


def _sched(name, *args, **kwargs):
    return lambda lib, optimizer: getattr(lib.optim.lr_scheduler, name)(optimizer, *args, **kwargs)


def _sequential(lib, optimizer):
    schedule = lib.optim.lr_scheduler
    parts = [
        schedule.LinearLR(optimizer, 0.1, total_iters=3),
        schedule.CosineAnnealingLR(optimizer, 5),
        schedule.ExponentialLR(optimizer, 0.5),
    ]
    return schedule.SequentialLR(optimizer, parts, [3, 7])


def _chained(lib, optimizer):
    schedule = lib.optim.lr_scheduler
    return schedule.ChainedScheduler([schedule.ConstantLR(optimizer, 0.5, 4), schedule.ExponentialLR(optimizer, 0.9)])


SCHEDULES = {
    "lambda": _sched("LambdaLR", lambda epoch: 0.95**epoch),
    "lambdas": _sched("LambdaLR", [lambda epoch: 0.95**epoch, lambda epoch: 1 / (1 + epoch)]),
    "multiplicative": _sched("MultiplicativeLR", lambda epoch: 0.9 if epoch % 2 else 0.8),
    "step": _sched("StepLR", 3, gamma=0.5),
    "multi_step": _sched("MultiStepLR", [2, 5, 5], gamma=0.3),
    "constant": _sched("ConstantLR", 0.4, total_iters=4),
    "linear": _sched("LinearLR", 0.2, 0.9, total_iters=6),
    "exponential": _sched("ExponentialLR", 0.8),
    "polynomial": _sched("PolynomialLR", 7, power=2.0),
    "cosine": _sched("CosineAnnealingLR", 5, eta_min=0.01),
    "warm_restarts": _sched("CosineAnnealingWarmRestarts", 3, 2, eta_min=0.001),
    "triangular": _sched("CyclicLR", 0.01, 0.1, step_size_up=3),
    "triangular2": _sched("CyclicLR", 0.01, [0.1, 0.2], step_size_up=2, step_size_down=4, mode="triangular2"),
    "exp_range": _sched("CyclicLR", 0.01, 0.1, step_size_up=3, mode="exp_range", gamma=0.9),
    "custom_cycle": _sched("CyclicLR", 0.01, 0.1, step_size_up=3, scale_fn=lambda x: 0.5**x, scale_mode="iterations"),
    "one_cycle": _sched("OneCycleLR", 0.5, total_steps=20),
    "one_cycle_linear": _sched("OneCycleLR", 0.5, epochs=4, steps_per_epoch=5, anneal_strategy="linear", pct_start=0.4),
    "one_cycle_three": _sched("OneCycleLR", [0.5, 0.3], total_steps=20, three_phase=True),
    "sequential": _sequential,
    "chained": _chained,
    "swa": lambda lib, optimizer: lib.optim.swa_utils.SWALR(optimizer, 0.05, anneal_epochs=4),
    "swa_linear": lambda lib, optimizer: lib.optim.swa_utils.SWALR(
        optimizer, [0.05, 0.2], anneal_epochs=4, anneal_strategy="linear"
    ),
    "swa_at_once": lambda lib, optimizer: lib.optim.swa_utils.SWALR(optimizer, 0.05, anneal_epochs=0),
}


def _plain(value):
    """A state as values both libraries share."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _options(optimizer):
    return [_plain({k: v for k, v in group.items() if k != "params"}) for group in optimizer.param_groups]


def _run(lib, make, name="SGD", steps=15, **options):
    optimizer = _optimizer(lib, name, **options)
    schedule = make(lib, optimizer)
    seen = [_options(optimizer)]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        seen.append((_options(optimizer), _plain(schedule.get_last_lr())))
    return seen, _plain(schedule.state_dict())


@pytest.mark.parametrize("name", SCHEDULES)
def test_sequence_and_state(name):
    assert _run(mt, SCHEDULES[name]) == _run(torch, SCHEDULES[name])


@pytest.mark.parametrize("name", ["triangular", "one_cycle"])
def test_momentum_in_betas(name):
    assert _run(mt, SCHEDULES[name], "Adam") == _run(torch, SCHEDULES[name], "Adam")


@pytest.mark.parametrize("name", [n for n in SCHEDULES if n not in ("custom_cycle", "sequential", "chained")])
def test_resumed(name):
    def resumed(lib):
        optimizer = _optimizer(lib)
        schedule = SCHEDULES[name](lib, optimizer)
        for _ in range(4):
            optimizer.step()
            schedule.step()
        other = _optimizer(lib)
        other_schedule = SCHEDULES[name](lib, other)
        other.load_state_dict(optimizer.state_dict())
        other_schedule.load_state_dict(copy.deepcopy(schedule.state_dict()))
        for _ in range(6):
            other.step()
            other_schedule.step()
        return _options(other), _plain(other_schedule.state_dict())

    assert resumed(mt) == resumed(torch)


@pytest.mark.parametrize("name", ["step", "multi_step", "constant", "linear", "exponential", "polynomial", "cosine"])
def test_explicit_epochs(name):
    def jumped(lib):
        optimizer = _optimizer(lib)
        schedule = SCHEDULES[name](lib, optimizer)
        seen = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for epoch in (3, 1, 8):
                optimizer.step()
                schedule.step(epoch)
                seen.append(_options(optimizer))
        return seen, [(w.category, str(w.message)) for w in caught]

    assert jumped(mt) == jumped(torch)


@pytest.mark.parametrize("epochs", [(0.5, 1.25, 4.5, 10), (0, 2, 3, 9)])
@pytest.mark.parametrize("mult", [1, 2])
def test_warm_restarts_at_fractions(epochs, mult):
    def placed(lib):
        optimizer = _optimizer(lib)
        schedule = lib.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3, mult)
        seen = []
        for epoch in epochs:
            schedule.step(epoch)
            seen.append(_plain(schedule.get_last_lr()))
        return seen

    assert placed(mt) == placed(torch)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "max", "patience": 1},
        {"threshold_mode": "abs", "threshold": 0.05, "cooldown": 2, "patience": 0},
        {"mode": "max", "threshold_mode": "abs", "min_lr": [0.01, 0.02], "patience": 0, "factor": 0.3},
    ],
)
def test_plateau(options):
    metrics = np.random.default_rng(0).standard_normal(40).cumsum()

    def followed(lib):
        optimizer = _optimizer(lib)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        seen = []
        for metric in metrics:
            schedule.step(metric)
            seen.append((_options(optimizer), schedule.num_bad_epochs))
        return seen, _plain(schedule.state_dict())

    assert followed(mt) == followed(torch)


def test_tensor_learning_rate_is_filled_in_place():
    def filled(lib):
        rate = lib.tensor(0.1)
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.zeros(2))], lr=rate)
        schedule = lib.optim.lr_scheduler.StepLR(optimizer, 1)
        optimizer.step()
        schedule.step()
        return optimizer.param_groups[0]["lr"] is rate, rate.item(), optimizer.param_groups[0]["initial_lr"].item()

    assert filled(mt) == filled(torch)


def _message(lib, make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            make(lib, _optimizer(lib, groups=1))
            raised = None
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            raised = (type(error).__name__, str(error))
    return raised, [(w.category.__name__, str(w.message)) for w in caught]


def _stepped_twice(lib, optimizer):
    schedule = lib.optim.lr_scheduler.StepLR(optimizer, 1)
    schedule.step()
    schedule.step()


def _step_replaced(lib, optimizer):
    schedule = lib.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step = lambda: None
    schedule.step()


def _two_optimizers(name):
    def make(lib, optimizer):
        schedule = lib.optim.lr_scheduler
        parts = [schedule.StepLR(optimizer, 1), schedule.StepLR(_optimizer(lib), 1)]
        return (
            schedule.SequentialLR(optimizer, parts, [2]) if name == "SequentialLR" else schedule.ChainedScheduler(parts)
        )

    return make


REFUSALS = [
    lambda lib, _: lib.optim.lr_scheduler.StepLR(3, 1),
    _sched("StepLR", 1, last_epoch=3),
    lambda lib, optimizer: lib.optim.lr_scheduler.StepLR(optimizer, 1).get_lr(),
    _stepped_twice,
    _step_replaced,
    _sched("ConstantLR", factor=2),
    _sched("LinearLR", start_factor=0),
    _sched("LinearLR", end_factor=2),
    _sched("LambdaLR", [lambda epoch: 1, lambda epoch: 2]),
    _sched("CosineAnnealingWarmRestarts", 0),
    _sched("CosineAnnealingWarmRestarts", 2, 1.5),
    _sched("CosineAnnealingWarmRestarts", 2, 1, "a"),
    lambda lib, optimizer: lib.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2).step(-1),
    _sched("CyclicLR", 0.1, 0.2, mode="x"),
    _sched("CyclicLR", [0.1, 0.2], 0.2),
    _sched("OneCycleLR", 0.1),
    _sched("OneCycleLR", 0.1, -1),
    _sched("OneCycleLR", 0.1, epochs=1.5, steps_per_epoch=3),
    _sched("OneCycleLR", 0.1, 10, pct_start=2),
    _sched("OneCycleLR", 0.1, 10, anneal_strategy="x"),
    _sched("SequentialLR", [], []),
    _two_optimizers("SequentialLR"),
    _two_optimizers("ChainedScheduler"),
    lambda lib, optimizer: lib.optim.lr_scheduler.ChainedScheduler(
        [lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer)]
    ),
    _sched("ReduceLROnPlateau", factor=1.0),
    _sched("ReduceLROnPlateau", mode="x"),
    _sched("ReduceLROnPlateau", threshold_mode="x"),
    _sched("ReduceLROnPlateau", min_lr=[1, 2]),
    lambda lib, optimizer: lib.optim.swa_utils.SWALR(optimizer, 0.1, anneal_strategy="x"),
    lambda lib, optimizer: lib.optim.swa_utils.SWALR(optimizer, 0.1, anneal_epochs=-1),
]


@pytest.mark.parametrize("index", range(len(REFUSALS)))
def test_errors_and_warnings(index):
    assert _message(mt, REFUSALS[index]) == _message(torch, REFUSALS[index])
