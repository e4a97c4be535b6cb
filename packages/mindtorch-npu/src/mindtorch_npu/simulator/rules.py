"""What the vendor's documents say of single operators, beyond types and ranks of single arguments.

Tables, read by `strict`. A rule is given the arguments by name and returns what is wrong, or nothing.
"""

from __future__ import annotations

import math
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
    "aclnnFusedAdamw": frozenset({"maxExpAvgSqsRef"}),
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
    "aclnnFusedAdamw": (("paramsRef", "grads", "expAvgsRef", "expAvgSqsRef", "maxExpAvgSqsRef"),),
    "aclnnRmsNorm": (("x", "yOut"),),
    "aclnnRmsNormGrad": (("dy", "x", "dxOut"),),
    "aclnnAddRmsNorm": (("x1", "x2", "yOut", "xOut"),),
    "aclnnSwiGlu": (("x", "out"),),
    "aclnnSwiGluGrad": (("yGrad", "x", "out"),),
    "aclnnRotaryPositionEmbedding": (("x", "cos", "sin", "out"),),
    "aclnnDropout": (("input", "out"),),
    "aclnnDropoutBackward": (("gradOutput", "out"),),
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


def _between(label: str, least: float, most: float) -> Rule:
    return lambda given: (
        None if least <= given[label] <= most else f"{label} is {given[label]}, not between {least:g} and {most:g}"
    )


def _mask(tensor: str, mask: str) -> Rule:
    """A mask of bits must have one for each element, a multiple of 128."""

    def rule(given: dict[str, Any]) -> str | None:
        bits, needed = 8 * math.prod(given[mask].shape), math.prod(given[tensor].shape)
        return None if bits >= needed else f"{mask} has {bits} bits, {tensor} {needed} elements"

    return rule


def _bits_of_scores(given: dict[str, Any]) -> str | None:
    """A mask of dropout must have a bit for each score."""
    mask = given["dropMaskOptional"]
    if mask is None:
        return None
    key = given["key"] if "key" in given else given["keyIn"]
    needed = math.prod(given["query"].shape[:3]) * key.shape[2]
    bits = 8 * math.prod(mask.shape)
    return None if bits >= needed else f"dropMaskOptional has {bits} bits, there are {needed} scores"


def _same_shape(first: str, second: str) -> Rule:
    return lambda given: (
        None if given[first].shape == given[second].shape else f"{first} and {second} must have one shape"
    )


def _normalized(given: dict[str, Any]) -> str | None:
    shape, last = tuple(given["input"].shape), tuple(given["normalizedShape"])
    fits = 0 < len(last) <= len(shape) and shape[len(shape) - len(last) :] == last
    return None if fits else f"normalizedShape {list(last)} is not how {list(shape)} ends"


def _result_type(given: dict[str, Any]) -> str | None:
    return None if given["dtype"] in (-1, given["out"].dtype) else "dtype is not the output's type"


def _row(given: dict[str, Any]) -> str | None:
    return None if len(given["index"].shape) <= 1 else "index has more than one dimension"


def _range(given: dict[str, Any]) -> str | None:
    return f"from {given['from']} is above to {given['to']}" if given["from"] > given["to"] else None


def _chance(given: dict[str, Any]) -> str | None:
    return None if 0 <= given["prob"].value <= 1 else f"prob is {given['prob'].value}, not between 0 and 1"


def _adam(given: dict[str, Any]) -> str | None:
    for label in ("lr", "beta1", "beta2", "weightDecay"):
        if given[label] < 0:
            return f"{label} is {given[label]}, below 0"
    if given["amsgrad"] and given["maxExpAvgSqsRef"] is None:
        return "maxExpAvgSqsRef is needed for amsgrad"
    lists = [given[label] for label in ("paramsRef", "grads", "expAvgsRef", "expAvgSqsRef", "stateSteps")]
    if len({len(one) for one in lists}) > 1:
        return "the lists have different lengths"
    if any(len({one.shape for one in items}) > 1 for items in zip(*lists[:4], strict=True)):
        return "a parameter, its gradient and its averages must have one shape"
    return None if all(math.prod(step.shape) == 1 for step in lists[4]) else "a step has more than one element"


RULES: dict[str, tuple[Rule, ...]] = {
    "aclnnTopk": (_topk, _out_indices),
    "aclnnSort": (_dim(),),
    "aclnnSoftmax": (_dim(),),
    "aclnnLogSoftmax": (_dim(),),
    "aclnnMaxDim": (_dim(),),
    "aclnnMinDim": (_dim(),),
    "aclnnGather": (_dim(),),
    "aclnnIndexSelect": (_dim(), _row),
    "aclnnCumsum": (_dim(), _result_type),
    "aclnnScatter": (_dim(),),
    "aclnnScatterAdd": (_dim(),),
    "aclnnDropout": (_share("p"), _mask("input", "maskOut")),
    "aclnnDropoutV3": (_share("p"),),
    "aclnnDropoutBackward": (_mask("gradOutput", "mask"),),
    "aclnnDropoutGenMask": (_share("prob"),),
    "aclnnDropoutGenMaskV2Tensor": (_share("prob"),),
    "aclnnDropoutDoMask": (_share("prob"), _mask("self", "mask")),
    "aclnnLayerNorm": (_normalized,),
    "aclnnLayerNormBackward": (_normalized,),
    "aclnnReduceSum": (_result_type,),
    "aclnnRotaryPositionEmbedding": (_between("mode", 0, 3), _same_shape("cos", "sin")),
    "aclnnRotaryPositionEmbeddingGrad": (_between("mode", 0, 3), _same_shape("cos", "sin")),
    "aclnnFusedAdamw": (_adam,),
    "aclnnGeluV2": (_between("approximate", 0, 1),),
    "aclnnInplaceUniform": (_range,),
    "aclnnInplaceUniformTensor": (_range,),
    "aclnnInplaceNormal": (_least("std", 0),),
    "aclnnInplaceNormalTensor": (_least("std", 0),),
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
    "aclnnInplaceBernoulli": (_offset, _chance),
    "aclnnBernoulli": (_offset,),
    "aclnnCast": (_cast,),
    "aclnnPermute": (_permutation,),
    "aclnnOneHot": (_least("numClasses", 0),),
    "aclnnFlashAttentionScore": (_layout, _share("keepProb"), _bits_of_scores),
    "aclnnFlashAttentionScoreGrad": (_layout, _share("keepProb"), _bits_of_scores),
    "aclnnGroupNorm": (_least("group", 1),),
}
