"""What `nn.utils` raises, warns and returns, call by call beside torch."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 (after the check that torch is there)

CALLS = """
U.clip_grad_norm_(g().parameters(),1.)
U.clip_grad_norm_([],1.)
U.clip_grad_norm_(gn().parameters(),1.,error_if_nonfinite=True)
U.clip_grad_norm(g().parameters(),1.)
U.clip_grad_norm_(g().parameters(),1.,float('inf'))
U.clip_grad_norm_(g().weight,1.,'inf')
U.clip_grad_norm_(g().parameters(),1.,foreach=True)
U.get_total_norm([p for p in g().parameters()],2.)
U.get_total_norm([])
U.clip_grad_value_(g().parameters(),.5)
U.clip_grads_with_norm_(g().parameters(),.5,T.tensor(3.))
U.parameters_to_vector(g().parameters()).shape
U.parameters_to_vector([3])
U.vector_to_parameters(3,g().parameters())
U.vector_to_parameters(T.rand(9),g().parameters())
U.vector_to_parameters(T.rand(3),g().parameters())
R.pack_padded_sequence(T.rand(3,2,1),[1,2])
R.pack_padded_sequence(T.rand(3,2,1),[1,2],enforce_sorted=False)
R.pack_padded_sequence(T.rand(3,2,1),[4,2])
R.pack_padded_sequence(T.rand(3,2,1),[0,0])
R.pack_padded_sequence(T.rand(3,2,1),[2])
R.pad_packed_sequence(R.pack_padded_sequence(T.rand(3,2,1),[3,2]),total_length=1)
R.pad_sequence(T.rand(3))
R.pad_sequence(3)
R.pad_sequence([T.rand(3),T.rand(2)],padding_side='x')
R.pad_sequence([T.rand(3),T.rand(2)],padding_side='left')
R.pack_sequence([T.rand(2),T.rand(3)])
R.pack_sequence([T.rand(2),T.rand(3)],enforce_sorted=False)
R.PackedSequence(T.rand(3))
R.unpad_sequence(T.rand(3,2),T.tensor([3,2]))
R.invert_permutation(T.tensor([2,0,1]))
U.weight_norm(g(),dim=None)
U.weight_norm(U.weight_norm(g()))
U.remove_weight_norm(g())
U.remove_weight_norm(U.weight_norm(g()))
U.spectral_norm(g())
U.remove_spectral_norm(g())
U.spectral_norm(g(),n_power_iterations=0)
U.spectral_norm(U.spectral_norm(g()))
U.parametrizations.weight_norm(g())
U.parametrizations.spectral_norm(g())
U.parametrizations.spectral_norm(g(),name='foo')
U.parametrizations.spectral_norm(g(),n_power_iterations=0)
U.parametrizations.orthogonal(g())
U.parametrizations.orthogonal(g(),name='bias')
U.parametrizations.orthogonal(g(),orthogonal_map='zz')
P.register_parametrization(sq(),'weight',Sym())
P.register_parametrization(sq(),'foo',Sym())
P.register_parametrization(sq(),'weight',Bad())
P.register_parametrization(sq(),'weight',BadT())
P.register_parametrization(sq(),'weight',Right())
P.register_parametrization(sq(),'weight',Right2())
P.register_parametrization(P.register_parametrization(sq(),'weight',Sym()),'weight',Sym())
P.register_parametrization(P.register_parametrization(sq(),'weight',Sym()),'weight',Bad())
P.register_parametrization(P.register_parametrization(sq(),'weight',Sym()),'weight',BadT())
P.register_parametrization(sq(),'weight',Sym()).__class__
P.remove_parametrizations(P.register_parametrization(sq(),'weight',Sym()),'weight')
P.remove_parametrizations(P.register_parametrization(sq(),'weight',Sym()),'weight',leave_parametrized=False)
P.remove_parametrizations(sq(),'weight')
P.is_parametrized(sq())
P.is_parametrized(P.register_parametrization(sq(),'weight',Sym()),'bias')
P.type_before_parametrizations(P.register_parametrization(sq(),'weight',Sym()))
P.transfer_parametrizations_and_params(sq(),sq())
P.transfer_parametrizations_and_params(P.register_parametrization(sq(),'weight',Sym()),nn.ReLU(),'weight')
P.transfer_parametrizations_and_params(P.register_parametrization(sq(),'weight',Sym()),sq())
setattr(P.register_parametrization(sq(),'weight',Sym()),'weight',T.rand(3,3))
U.skip_init(nn.Linear,2,3).weight.shape
U.skip_init(nn.ReLU)
U.skip_init(3)
U.fuse_conv_bn_eval(nn.Conv2d(2,3,1),nn.BatchNorm2d(3))
U.fuse_conv_bn_eval(nn.Conv2d(2,3,1).eval(),nn.BatchNorm2d(3).eval())
U.fuse_linear_bn_eval(nn.Linear(2,3).eval(),nn.BatchNorm1d(4).eval())
U.fuse_linear_bn_eval(nn.Linear(2,3).eval(),nn.BatchNorm1d(3).eval())
U.stateless.functional_call(g(),{'weight':T.rand(3,2)},T.rand(1,2))
functional_call(g(),{'weight':T.rand(3,2)},T.rand(1,2))
functional_call(g(),({'weight':T.rand(3,2)},{'bias':T.zeros(3)}),(T.rand(1,2),))
functional_call(g(),{'foo':T.rand(3,2)},T.rand(1,2))
functional_call(g(),{'weight':T.rand(3,2)},T.rand(1,2),strict=True)
functional_call(g(),{'weight':T.rand(3,2),'x':T.rand(1)},T.rand(1,2),strict=True)
""".strip().splitlines()


def names_of(library):
    """Return what the calls use, made of one library."""
    nn = library.nn

    def with_grads():
        layer = nn.Linear(2, 3)
        for param in layer.parameters():
            param.grad = library.ones_like(param)
        return layer

    def with_nan():
        layer = with_grads()
        layer.weight.grad[0] = float("nan")
        return layer

    class Sym(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    class Bad(nn.Module):
        def forward(self, x):
            return x[0]

    class BadT(nn.Module):
        def forward(self, x):
            return x.double()

    class Right(nn.Module):
        def forward(self, x):
            return x * 2

        def right_inverse(self, x):
            return x.double()

    class Right2(Right):
        def right_inverse(self, x):
            return 3

    def functional_call(module, given, args=None, **options):
        merged = given if isinstance(given, dict) else {k: v for each in given for k, v in each.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return nn.utils.stateless.functional_call(module, merged, args, **options)

    return {
        "T": library,
        "nn": nn,
        "U": nn.utils,
        "R": nn.utils.rnn,
        "P": nn.utils.parametrize,
        "g": with_grads,
        "gn": with_nan,
        "sq": lambda: nn.Linear(3, 3),
        "Sym": Sym,
        "Bad": Bad,
        "BadT": BadT,
        "Right": Right,
        "Right2": Right2,
        "functional_call": functional_call,
    }


def outcome(library, call):
    """Return the repr or the error, and the warnings, of a call."""
    library.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            seen = repr(eval(call, names_of(library)))
        except AttributeError as missing:
            if "aten" in str(missing) or "module 'torch'" in str(missing):
                pytest.skip(f"the op is not offered yet: {missing}")
            seen = f"AttributeError: {missing}"
        except Exception as raised:  # noqa: BLE001 (any error is an outcome)
            seen = f"{type(raised).__name__}: {raised}"
    return seen, [f"{w.category.__name__}: {w.message}" for w in caught]


@pytest.mark.parametrize("call", CALLS)
def test_call(call):
    assert outcome(mt, call) == outcome(torch, call)
