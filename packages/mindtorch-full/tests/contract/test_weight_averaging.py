"""Averages of weights equal torch's."""

from __future__ import annotations

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")
__import__("torch.optim.swa_utils")


def _model(lib, batchnorm=False):
    layers = [lib.nn.Linear(2, 3)]
    if batchnorm:
        layers.append(lib.nn.BatchNorm1d(3))
    model = lib.nn.Sequential(*layers)
    with lib.no_grad():
        for number, param in enumerate(model.parameters()):
            param.copy_(lib.arange(param.numel(), dtype=lib.float32).reshape(param.shape) * 0.1 + number)
    return model


def _moved(lib, model, step):
    with lib.no_grad():
        for param in model.parameters():
            param.add_(0.1 * (step + 1))
        for buffer in model.buffers():
            buffer.add_(1)


AVERAGES = {
    "plain": lambda swa: {},
    "plain function": lambda swa: {"avg_fn": swa.get_swa_avg_fn()},
    "plain lists": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "moving function": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.9)},
    "moving lists": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)},
    "with buffers": lambda swa: {"use_buffers": True},
}


@pytest.mark.parametrize("name", AVERAGES)
def test_average(name):
    def averaged(lib):
        model = _model(lib, batchnorm=True)
        average = lib.optim.swa_utils.AveragedModel(model, **AVERAGES[name](lib.optim.swa_utils))
        for step in range(4):
            _moved(lib, model, step)
            average.update_parameters(model)
        return {key: value.tolist() for key, value in average.state_dict().items()}

    ours, theirs = averaged(mt), averaged(torch)
    assert list(ours) == list(theirs)
    for key in ours:
        assert _flat(ours[key]) == pytest.approx(_flat(theirs[key]), rel=1e-6), key


def _flat(nested):
    return [item for inner in nested for item in _flat(inner)] if isinstance(nested, list) else [nested]


def test_statistics_are_recomputed():
    def statistics(lib):
        model = _model(lib, batchnorm=True)
        batches = [(lib.tensor([[1.0, 2.0], [3.0, -1.0]]), 0), (lib.tensor([[0.5, 1.0], [2.0, 2.0]]), 1)]
        model.eval()
        lib.optim.swa_utils.update_bn(batches, model)
        return (
            _flat(model[1].running_mean.tolist()),
            _flat(model[1].running_var.tolist()),
            model.training,
            model[1].momentum,
        )

    ours, theirs = statistics(mt), statistics(torch)
    assert ours[0] == pytest.approx(theirs[0], rel=1e-5)
    assert ours[1] == pytest.approx(theirs[1], rel=1e-5)
    assert ours[2:] == theirs[2:]


@pytest.mark.parametrize("call", [lambda s: s.get_ema_avg_fn(2.0), lambda s: s.get_ema_multi_avg_fn(-1.0)])
def test_decay_is_checked(call):
    texts = []
    for lib in (mt, torch):
        with pytest.raises(ValueError, match="Invalid decay value") as error:
            call(lib.optim.swa_utils)
        texts.append(str(error.value))
    assert texts[0] == texts[1]
