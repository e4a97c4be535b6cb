"""What the vendor's documents say of single operators, beyond types and ranks of single arguments.

Tables, read by `strict`. A rule is given the arguments by name and returns what is wrong, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[[dict[str, Any]], "str | None"]

MAY_BE_NULL: dict[str, frozenset[str]] = {
    "aclnnBatchNorm": frozenset({"weight", "bias", "runningMean", "runningVar", "saveMean", "saveInvstd"}),
    "aclnnBatchNormBackward": frozenset(
        {"weight", "runningMean", "runningVar", "saveMean", "saveInvstd", "gradInput", "gradWeight", "gradBias"}
    ),
    "aclnnLayerNormBackward": frozenset(
        {"weightOptional", "biasOptional", "gradInputOut", "gradWeightOut", "gradBiasOut"}
    ),
    "aclnnGroupNorm": frozenset({"gamma", "beta"}),
    "aclnnGroupNormBackward": frozenset({"gamma", "gradInput", "gradGammaOut", "gradBetaOut"}),
    "aclnnConvolution": frozenset({"bias"}),
    "aclnnConvolutionBackward": frozenset({"gradInput", "gradWeight", "gradBias"}),
    "aclnnSvd": frozenset({"u", "v"}),
    "aclnnSearchSorted": frozenset({"sorter"}),
    "aclnnSearchSorteds": frozenset({"sorter"}),
    "aclnnBincount": frozenset({"weights"}),
    "aclnnBinaryCrossEntropy": frozenset({"weight"}),
    "aclnnBinaryCrossEntropyBackward": frozenset({"weight"}),
    "aclnnBinaryCrossEntropyWithLogits": frozenset({"weightOptional", "posWeightOptional"}),
}
"""Tensors that may be left out, where the tables do not say so: masked-off gradients and optional weights."""

RANKS = {("aclnnSvd", "sigma"): "1-7", ("aclnnLogSpace", "result"): "1"}
"""Ranks where the tables contradict what the operator computes: one row of singular values, one row of numbers."""

CONVERTING = frozenset(
    "aclnn" + name
    for name in (
        "Abs Neg Exp Log Sqrt Rsqrt Sin Cos Tan Tanh Sigmoid Relu Gelu Silu Add Adds Sub Subs Rsub Rsubs Mul Muls Div Divs "
        "Maximum Minimum PowTensorTensor PowTensorScalar FmodTensor FmodScalar RemainderTensorTensor Addcmul Addcdiv Lerp "
        "Lerps Atan2 LogAddExp Matmul Mm BatchMatMul Addmm Baddbmm Mv Dot Softmax LogSoftmax Mean Prod Clamp ClampMin "
        "ClampMax Floor Ceil Round Trunc Reciprocal Erf SWhere Cat Triu Tril"
    ).split()
)
"""Operators whose result is converted to the output's type: to a wider kind, never to a narrower one."""

SAME_TYPE: dict[str, tuple[tuple[str, ...], ...]] = {
    "aclnnMm": (("self", "mat2"),),
    "aclnnMatmul": (("self", "mat2"),),
    "aclnnBatchMatMul": (("self", "mat2"),),
    "aclnnConvolution": (("input", "weight"),),
    "aclnnConvolutionBackward": (("gradOutput", "input", "weight"),),
    "aclnnTopk": (("self", "valuesOut"),),
    "aclnnSort": (("self", "valuesOut"),),
    "aclnnGather": (("self", "out"),),
    "aclnnIndexSelect": (("self", "out"),),
    "aclnnEmbedding": (("weight", "out"),),
    "aclnnPermute": (("self", "out"),),
    "aclnnGeluBackward": (("gradOutput", "self", "gradInput"),),
    "aclnnSoftmaxBackward": (("gradOutput", "output"),),
    "aclnnApplyAdamWV2": (("varRef", "mRef", "vRef", "grad"),),
    "aclnnFlashAttentionScore": (("query", "key", "value", "attentionOutOut"),),
    "aclnnLayerNorm": (("input", "out"),),
    "aclnnForeachAddList": (("x1", "x2", "out"),),
    "aclnnForeachMulList": (("x1", "x2", "out"),),
    "aclnnScatter": (("self", "src", "out"),),
}
"""Arguments that must have one type."""


def _least(label: str, least: float) -> Rule:
    return lambda given: f"{label} is {given[label]}, at least {least} is needed" if given[label] < least else None


def _dim(label: str = "dim", of: str = "self") -> Rule:
    """A dimension must be one of the tensor's."""

    def rule(given: dict[str, Any]) -> str | None:
        rank = max(1, len(given[of].shape))
        return None if -rank <= given[label] < rank else f"{label} is {given[label]}, {of} has {rank} dimensions"

    return rule


def _topk(given: dict[str, Any]) -> str | None:
    if not given["sorted"]:
        return "sorted must be true"
    shape, dim = given["self"].shape, given["dim"]
    extent = shape[dim] if shape else 1
    return None if 0 <= given["k"] <= extent else f"k is {given['k']}, the dimension has {extent} elements"


def _share(label: str) -> Rule:
    return lambda given: None if 0 <= given[label] <= 1 else f"{label} is {given[label]}, not between 0 and 1"


def _convolution(given: dict[str, Any]) -> str | None:
    rank = len(given["input"].shape)
    for label in ("stride", "dilation"):
        if len(given[label]) != rank - 2:
            return f"{label} has {len(given[label])} numbers, {rank - 2} are needed"
        if any(number <= 0 for number in given[label]):
            return f"{label} must be positive"
    if not 1 <= given["groups"] <= 65535:
        return f"groups is {given['groups']}, not between 1 and 65535"
    return None


def _reduction(given: dict[str, Any]) -> str | None:
    return None if given["reduction"] in (0, 1, 2) else f"reduction is {given['reduction']}, not 0, 1 or 2"


def _offset(given: dict[str, Any]) -> str | None:
    return f"offset is {given['offset']}, no multiple of 4" if given["offset"] % 4 else None


def _cast(given: dict[str, Any]) -> str | None:
    return None if given["dtype"] == given["out"].dtype else "dtype is not the output's type"


def _out_indices(given: dict[str, Any]) -> str | None:
    return None if given["indicesOut"].dtype == 9 else "indicesOut must be INT64"


def _permutation(given: dict[str, Any]) -> str | None:
    rank = len(given["self"].shape)
    dims = sorted(dim % rank if rank else dim for dim in given["dims"])
    return None if dims == list(range(rank)) else f"dims {given['dims']} is no permutation of {rank} dimensions"


def _cube(given: dict[str, Any]) -> str | None:
    return None if given["cubeMathType"] in range(5) else f"cubeMathType is {given['cubeMathType']}, not 0 to 4"


def _layout(given: dict[str, Any]) -> str | None:
    known = ("BSH", "SBH", "BSND", "BNSD", "TND")
    return None if given["inputLayout"] in known else f"inputLayout {given['inputLayout']!r} is none of {known}"


RULES: dict[str, tuple[Rule, ...]] = {
    "aclnnTopk": (_topk, _out_indices),
    "aclnnSort": (_dim(),),
    "aclnnSoftmax": (_dim(),),
    "aclnnLogSoftmax": (_dim(),),
    "aclnnMaxDim": (_dim(),),
    "aclnnMinDim": (_dim(),),
    "aclnnGather": (_dim(),),
    "aclnnIndexSelect": (_dim(),),
    "aclnnCumsum": (_dim(),),
    "aclnnScatter": (_dim(),),
    "aclnnScatterAdd": (_dim(),),
    "aclnnDropoutGenMask": (_share("prob"),),
    "aclnnDropoutDoMask": (_share("prob"),),
    "aclnnConvolution": (_convolution, _cube),
    "aclnnMm": (_cube,),
    "aclnnMatmul": (_cube,),
    "aclnnBatchMatMul": (_cube,),
    "aclnnAddmm": (_cube,),
    "aclnnMseLoss": (_reduction,),
    "aclnnL1Loss": (_reduction,),
    "aclnnNLLLoss": (_reduction,),
    "aclnnSmoothL1Loss": (_reduction, _least("beta", 0)),
    "aclnnBinaryCrossEntropy": (_reduction,),
    "aclnnKlDiv": (_reduction,),
    "aclnnInplaceBernoulli": (_offset,),
    "aclnnBernoulli": (_offset,),
    "aclnnCast": (_cast,),
    "aclnnPermute": (_permutation,),
    "aclnnOneHot": (_least("numClasses", 0),),
    "aclnnFlashAttentionScore": (_layout, _share("keepProb")),
    "aclnnGroupNorm": (_least("group", 1),),
}
