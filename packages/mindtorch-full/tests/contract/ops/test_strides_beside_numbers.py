"""A number counts as a tensor without dimensions where the strides of a result are decided, but for some functions."""

import operator

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

GEOMETRIES = [
    ((0, 1, 3), (3, 3, 1)),
    ((0, 1, 3), (3, 0, 1)),
    ((2, 1, 3), (3, 7, 1)),
    ((0, 3), (1, 5)),
    ((2, 0, 3), (1, 5, 7)),
    ((2, 3), (1, 5)),
    ((2, 3, 4), (1, 2, 6)),
    ((1, 1, 3), (1, 5, 1)),
]
NAMES = (
    "add sub mul div floor_divide fmod remainder pow float_power eq lt bitwise_and bitwise_left_shift clamp_min clamp_max rsub "
    "xlogy special.xlog1py special.zeta copysign special.chebyshev_polynomial_t nan_to_num mvlgamma"
).split()
REVERSED = "pow xlogy special.xlog1py special.zeta bitwise_and bitwise_left_shift remainder".split()


def outcome(call):
    try:
        return call().stride()
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__


@pytest.mark.parametrize("name", NAMES)
def test_strides_are_those_of_torch(name):
    differ = []
    for shape, strides in GEOMETRIES:
        for dtype in ("float32", "int64"):
            found = []
            for T in (torch, mt):
                x, function = (
                    T.ones(60, dtype=getattr(T, dtype)).as_strided(shape, strides),
                    operator.attrgetter(name)(T),
                )
                found.append([outcome(lambda: function(x, 2))])  # noqa: B023  # called in this turn
                if name in REVERSED:
                    found[-1].append(outcome(lambda: function(2, x)))  # noqa: B023
            if found[0] != found[1]:
                differ.append((shape, strides, dtype, *found))
    assert differ == []
