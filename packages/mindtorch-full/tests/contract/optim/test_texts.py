"""What schedulers, optimizers, `nn.utils` and `nn.init` raise, warn and return, call by call beside torch."""

import inspect
import re
import warnings

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

# T is the library, S its schedulers, p a parameter, o and o2 optimizers over it.
CALLS = """
S.StepLR(o,step_size=2,last_epoch=3)
S.StepLR(1,2)
S.LambdaLR(o,[lambda e:1,lambda e:2])
S.MultiplicativeLR(o,[lambda e:1,lambda e:2])
S.ConstantLR(o,factor=2.)
S.ConstantLR(o,factor=-1)
S.LinearLR(o,start_factor=0)
S.LinearLR(o,start_factor=1.5)
S.LinearLR(o,end_factor=2)
S.SequentialLR(o,[S.StepLR(o,1)],[1])
S.SequentialLR(o,[],[])
S.SequentialLR(o,[S.StepLR(o,1),S.StepLR(o2,1)],[1])
S.SequentialLR(o,[S.StepLR(o,1),1],[1])
S.SequentialLR(o,[S.StepLR(o,1),S.ReduceLROnPlateau(o)],[1])
S.ChainedScheduler([S.StepLR(o,1),S.StepLR(o2,1)])
S.ChainedScheduler([])
S.ChainedScheduler([S.StepLR(o,1)],optimizer=o2)
S.ReduceLROnPlateau(o,factor=1.0)
S.ReduceLROnPlateau(o,mode='x')
S.ReduceLROnPlateau(o,threshold_mode='x')
S.ReduceLROnPlateau(o,min_lr=[1,2])
S.ReduceLROnPlateau(1)
S.ReduceLROnPlateau(o).step()
S.ReduceLROnPlateau(o).step('a')
S.ReduceLROnPlateau(o,verbose=True)
S.CyclicLR(o,0.1,0.2,mode='x')
S.CyclicLR(o,[0.1,0.2],0.2)
S.CyclicLR(o,0.1,0.2)
S.CyclicLR(T.optim.SGD([p],.1),0.1,0.2)
S.CyclicLR(o,0.1,0.2,scale_fn=3)
S.CosineAnnealingWarmRestarts(o,0)
S.CosineAnnealingWarmRestarts(o,1.5)
S.CosineAnnealingWarmRestarts(o,2,T_mult=0)
S.CosineAnnealingWarmRestarts(o,2).step(-1)
S.OneCycleLR(o,0.1)
S.OneCycleLR(o,0.1,total_steps=-1)
S.OneCycleLR(o,0.1,total_steps=1.5)
S.OneCycleLR(o,0.1,epochs=-1,steps_per_epoch=3)
S.OneCycleLR(o,0.1,epochs=1,steps_per_epoch=-3)
S.OneCycleLR(o,0.1,total_steps=3,pct_start=2)
S.OneCycleLR(o,0.1,total_steps=3,anneal_strategy='x')
S.OneCycleLR(o,[0.1,.2],total_steps=3)
steps(S.OneCycleLR(o,0.1,total_steps=3),5)
steps(S.CosineAnnealingLR(o,0),2)
steps(S.PolynomialLR(o,0),2)
S.StepLR(o,0).step()
S.MultiStepLR(o,[3,1]).milestones
S.MultiStepLR(o,1)
S.ExponentialLR(o,gamma='a').step()
S.StepLR(o,1).step(3)
S.StepLR(o,1).print_lr(True,0,.1)
S.StepLR(o,1,verbose=True)
S.LRScheduler(o)
S.LRScheduler(o).get_lr()
S._LRScheduler
S.StepLR(o,1).get_lr()
S.StepLR(o,1).load_state_dict({})
S.StepLR(o,1).load_state_dict({'last_epoch':5})
sorted(S.StepLR(o,1).state_dict())
sorted(S.OneCycleLR(o,0.1,total_steps=3).state_dict())
sorted(S.CyclicLR(T.optim.SGD([p],.1,momentum=.9),0.1,0.2).state_dict())
sorted(S.ReduceLROnPlateau(o).state_dict())
sorted(S.SequentialLR(o,[S.StepLR(o,1),S.StepLR(o,1)],[1]).state_dict())
S.SequentialLR(o,[S.StepLR(o,1),S.StepLR(o,1)],[1,2])
sorted(S.CosineAnnealingWarmRestarts(o,3).state_dict())
sorted(S.ChainedScheduler([S.StepLR(o,1)]).state_dict())
T.optim.swa_utils.SWALR(o,anneal_strategy='x',swa_lr=1)
T.optim.swa_utils.SWALR(o,anneal_epochs=-1,swa_lr=1)
T.optim.swa_utils.SWALR(o,swa_lr=[1,2])
sorted(T.optim.swa_utils.SWALR(o,swa_lr=1).state_dict())
T.optim.swa_utils.get_ema_multi_avg_fn(2.)
T.optim.swa_utils.AveragedModel(T.nn.Linear(2,2),multi_avg_fn=1,avg_fn=2)
T.optim.swa_utils.AveragedModel(T.nn.Linear(2,2))
T.optim.SGD([p],lr=-1)
T.optim.SGD([])
T.optim.SGD([p*2])
T.optim.SGD([1])
T.optim.SGD(p)
T.optim.SGD({p})
T.optim.SGD([{'params':{p}}])
T.optim.SGD([p],nesterov=True)
T.optim.SGD([p],momentum=-1)
T.optim.SGD([p],bogus=1)
T.optim.SGD([{'params':[p]}],lr='a')
T.optim.SGD([{'params':p,'lr':-1}],lr=1).param_groups[0]['lr']
T.optim.Optimizer([p],{}).step()
T.optim.Optimizer([p],{})
T.optim.Adam([p]).add_param_group(1)
T.optim.Adam([p]).load_state_dict({})
T.optim.Adam([p]).load_state_dict({'state':{},'param_groups':[]})
T.optim.Adam([p]).load_state_dict({'state':{},'param_groups':[{'params':[0,1]}]})
T.optim.Adam([p]).step(1)
T.optim.Adam([p]).state_dict()
T.optim.Adam([('w',p)]).state_dict()
T.optim.Adam([p]).zero_grad(3)
T.optim.Adam([p],betas=(1.,.9))
T.optim.Adam([p],fused=True,foreach=True)
T.optim.Adam([p],lr=T.tensor(.1),foreach=True)
T.optim.LBFGS([p,T.nn.Parameter(T.ones(1))]).step()
T.optim.LBFGS([{'params':[p]},{'params':[T.nn.Parameter(T.ones(1))]}])
T.optim.SparseAdam([p]).step()
T.optim.Muon([T.nn.Parameter(T.ones(3))])
T.nn.utils.clip_grad_norm_(p,1.,error_if_nonfinite=True)
T.nn.utils.clip_grad_norm_([],1.)
T.nn.utils.get_total_norm([T.ones(2),T.ones(3)],float('inf'))
T.nn.utils.get_total_norm([T.full((2,),float('nan'))],error_if_nonfinite=True)
T.nn.utils.clip_grads_with_norm_([p],1.,T.tensor(2.))
T.nn.utils.clip_grad_value_([p],'a')
T.nn.utils.clip_grad_norm_([p],1.,foreach=True)
T.nn.utils.parameters_to_vector([])
T.nn.utils.vector_to_parameters([1],[p])
T.nn.utils.vector_to_parameters(T.ones(1),[p])
T.nn.utils.skip_init(int)
T.nn.utils.skip_init(T.nn.Linear,2,3).weight.shape
T.nn.init.calculate_gain('x')
T.nn.init.calculate_gain('leaky_relu','a')
T.nn.init.orthogonal_(T.ones(2))
T.nn.init.dirac_(T.ones(2))
T.nn.init.dirac_(T.ones(3,1,1),groups=2)
T.nn.init.eye_(T.ones(2))
T.nn.init.sparse_(T.ones(2),.1)
T.nn.init.xavier_uniform_(T.ones(2))
T.nn.init.kaiming_normal_(T.ones(2,2),mode='x')
T.nn.init.kaiming_uniform_(T.ones(0,2))
T.nn.init.trunc_normal_(T.ones(3),mean=9.)
T.nn.init.uniform_(T.ones(2),3,1)
T.nn.init.normal_(T.ones(2),std=-1)
T.nn.init.constant_(T.ones(2),'a')
T.nn.init.uniform(T.ones(2))
""".strip().splitlines()

OPTIMIZERS = (
    "ASGD LBFGS SGD Adadelta Adafactor Adagrad Adam AdamW Adamax Muon NAdam RAdam RMSprop Rprop SparseAdam"
).split()
ODD = ("a", -1, float("nan"), None, (1.5, 2.0), (0.5,))


def _outcome(lib, call):
    """Return the kind and text of what a call gives or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lib.manual_seed(0)
        try:
            text = f"returns {call()!r}"
        except Exception as error:  # noqa: BLE001 - which error it is, is the question
            text = f"{type(error).__name__}: {error}"
    shown = [str(warning.message).replace("mindtorch", "torch") for warning in caught]
    return re.sub("0x[0-9a-f]+", "0x", text.replace("mindtorch", "torch")), shown


def _evaluate(lib, expression):
    parameter = lib.nn.Parameter(lib.ones(2))
    optimizers = [lib.optim.Adam([parameter], lr=0.1) for _ in range(2)]

    def steps(scheduler, count):
        rates = []
        for _ in range(count):
            optimizers[0].step()
            scheduler.step()
            rates.append(scheduler.get_last_lr())
        return rates

    names = {"T": lib, "S": lib.optim.lr_scheduler, "p": parameter, "o": optimizers[0], "o2": optimizers[1]}
    return eval(expression, {**names, "steps": steps})


@pytest.mark.parametrize("expression", CALLS)
def test_call(expression):
    ours, theirs = (_outcome(lib, lambda lib=lib: _evaluate(lib, expression)) for lib in (mt, torch))
    assert ours == theirs


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_odd_options(name):
    def outcome(lib, option, value):
        made = getattr(lib.optim, name)
        return _outcome(lib, lambda: type(made([lib.nn.Parameter(lib.ones(2, 2))], **{option: value})).__name__)

    options = [option for option in inspect.signature(getattr(torch.optim, name)).parameters if option != "params"]
    cases = [(option, value) for option in options for value in ODD]
    assert [outcome(mt, *case) for case in cases] == [outcome(torch, *case) for case in cases]


@pytest.mark.parametrize("write", ["clamp_(0, 2)", "add_(1)", "pow_(T.ones(2))", "pow_(2)"])
def test_who_wrote_into_a_saved_tensor(write):
    def outcome(lib):
        value = lib.ones(2, requires_grad=True) * 1
        square = value * value
        eval(f"y.{write}", {"y": value, "T": lib})
        return _outcome(lib, lambda: square.sum().backward())

    assert outcome(mt) == outcome(torch)
