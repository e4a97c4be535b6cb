"""The names under which kernels are registered, `torch.library`'s strings, and the keys of ours that they mean.

Torch has a key per backend where we have one (`AutogradCPU`), keys for backends we lack (`CUDA`) and alias keys that
stand for several (`CompositeImplicitAutograd`). A registration keeps the name it was made under; `names_for` says
under which names a key of ours looks for its kernel.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..keys import DispatchKey

IMPLICIT = "CompositeImplicitAutograd"
EXPLICIT = "CompositeExplicitAutograd"
FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
BACKEND_SELECT = "BackendSelect"

_BACKENDS = "CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 PrivateUse3 Meta"
_SEVERAL = {
    "Quantized": "CPU CUDA XPU PrivateUse1",
    "Sparse": "CPU CUDA HIP MPS XPU VE PrivateUse1 Meta",
    "SparseCsr": "CPU CUDA HIP MPS XPU VE PrivateUse1 Meta",
    "NestedTensor": "CPU CUDA XPU HPU PrivateUse1 Meta",
    "Autograd": "CPU CUDA XLA MPS IPU XPU HPU Lazy PrivateUse1 PrivateUse2 PrivateUse3 Meta",
}
_SINGLE = (
    "Undefined CompositeImplicitAutogradNestedTensor AutogradNestedTensor AutogradOther Conjugate ZeroTensor Negative "
    "ADInplaceOrView PythonTLSSnapshot Python FuncTorchDynamicLayerFrontMode FuncTorchDynamicLayerBackMode "
    "FuncTorchBatchedDecomposition FuncTorchBatched FuncTorchVmapMode FuncTorchGradWrapper PythonDispatcher PreDispatch "
    "Functionalize AutocastCPU AutocastMPS AutocastXPU AutocastHPU AutocastIPU AutocastCUDA AutocastPrivateUse1 Dense "
    "AutogradFunctionality Tracer BatchedNestedTensor VmapMode AutocastMTIA AutocastMAIA AutocastXLA FPGA Vulkan Metal "
    "Fake CustomRNGKeyId MkldnnCPU TESTING_ONLY_GenericWrapper TESTING_ONLY_GenericMode Batched"
)
_OURS = "NPU AutogradNPU AutocastNPU Pipeline"
_SAME = {
    "PrivateUse1": "NPU",
    "AutogradPrivateUse1": "AutogradNPU",
    "AutocastPrivateUse1": "AutocastNPU",
    "FuncTorchBatched": "Batched",
}

KEY_NAMES = frozenset(
    [
        IMPLICIT,
        EXPLICIT,
        FUNCTIONAL,
        BACKEND_SELECT,
        *_SINGLE.split(),
        *_BACKENDS.split(),
        *_OURS.split(),
        *_SEVERAL,
        *(kind + backend for kind, backends in _SEVERAL.items() for backend in backends.split()),
    ]
)
"""Every name a program may register a kernel under: those torch reads, and ours."""

_INTERNAL = ("Autocast",)
"""Keys of ours that programs name per backend."""

_PER_BACKEND = (
    DispatchKey.Autograd,
    DispatchKey.Autocast,
    DispatchKey.Sparse,
    DispatchKey.Quantized,
    DispatchKey.NestedTensor,
)


def parse_key(name: str) -> str:
    """Return the name under which registrations for `name` are kept; RuntimeError with torch's text for no key."""
    if name not in KEY_NAMES and name not in _INTERNAL:
        raise RuntimeError(f"could not parse dispatch key: {name}")
    return _SAME.get(name, name)


def names_for(key: DispatchKey, backends: Iterable[str]) -> list[str]:
    """Return the names that `key` looks for, the more special first, in a call of the backends (`CPU`, `NPU`, `Meta`)."""
    if key in _PER_BACKEND:
        return [*(key.name + backend for backend in backends), key.name]
    return [key.name]


def key_of(name: str) -> DispatchKey | None:
    """Return the key of ours that a registration under `name` serves, None when none does or several do."""
    for key in _PER_BACKEND:
        if name.startswith(key.name):
            return key if name[len(key.name) :] in ("", "CPU", "NPU", "Meta", "PrivateUse1") else None
    return DispatchKey[name] if name in DispatchKey.__members__ else None
