"""`torch.utils.benchmark.utils.fuzzer`: tensors of random shapes and layouts, for measurements that cover many of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._naming import adopt

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias"]

Parameters = dict[str, Any]

_TRIES = 1000


class ParameterAlias:
    """A value that is another parameter's; chains are followed, cycles refused.

    >>> torch.utils.benchmark.ParameterAlias("n").alias_to
    'n'
    """

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """How a number is drawn.

    Args:
        name: what tensors call it in their sizes.
        minval, maxval: bounds, both included; whole numbers give whole numbers.
        distribution: "uniform", "loguniform" (whole numbers), or the probability of each value, without bounds.
        strict: drawn once, not again when the rest does not satisfy the constraints.

    Raises:
        AssertionError: an unknown distribution; probabilities that are negative, or that sum to 1: torch's check of the sum is
            reversed, and so is this one.

    >>> import numpy
    >>> size = torch.utils.benchmark.FuzzedParameter("n", minval=2, maxval=8, distribution="uniform")
    >>> 2 <= size.sample(numpy.random.RandomState(0)) <= 8
    True
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | dict[Any, float] | None = None,
        strict: bool = False,
    ) -> None:
        self._name, self._minval, self._maxval, self.strict = name, minval, maxval, strict
        self._distribution = self._check_distribution(distribution)

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self._name

    def sample(self, state: np.random.RandomState) -> Any:
        """Return a value drawn from a random state."""
        if isinstance(self._distribution, dict):
            place = state.choice(np.arange(len(self._distribution)), p=tuple(self._distribution.values()))
            return list(self._distribution)[place]
        return self._loguniform(state) if self._distribution == "loguniform" else self._uniform(state)

    def _check_distribution(self, distribution: Any) -> Any:
        if not isinstance(distribution, dict):
            if distribution not in ("loguniform", "uniform"):
                raise AssertionError(f"Unknown distribution: {distribution}")
            return distribution
        if any(probability < 0 for probability in distribution.values()):
            raise AssertionError("Probabilities cannot be negative")
        if not abs(sum(distribution.values()) - 1) > 1e-5:
            raise AssertionError("Distribution is not normalized")
        for name, bound in (("minval", self._minval), ("maxval", self._maxval)):
            if bound is not None:
                raise AssertionError(f"When passing a custom distribution, '{name}' must be None")
        return distribution

    def _loguniform(self, state: np.random.RandomState) -> Any:
        low, high = (None if bound is None else np.log2(bound) for bound in (self._minval, self._maxval))
        drawn = int(2 ** state.uniform(low=low, high=high))  # type: ignore[arg-type]
        if self._minval is not None and drawn < self._minval:
            return self._minval
        return self._maxval if self._maxval is not None and drawn > self._maxval else drawn

    def _uniform(self, state: np.random.RandomState) -> Any:
        if isinstance(self._minval, int) and isinstance(self._maxval, int):
            return int(state.randint(low=self._minval, high=self._maxval + 1))
        return state.uniform(low=self._minval, high=self._maxval)  # type: ignore[arg-type]


class FuzzedTensor:
    """How a tensor is made of parameters.

    Args:
        size: numbers, and names of parameters.
        steps: likewise; a larger tensor is made and cut with these steps.
        probability_contiguous: of memory in the order of the dimensions, before `steps`.
        min_elements, max_elements, max_allocation_bytes: parameters for which it would be out of these are drawn again.
        dim_parameter: the parameter that says how many dimensions of `size` count.
        tensor_constructor: called with size, dtype and all parameters in place of random numbers.

    >>> from torch.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer
    >>> n = FuzzedParameter("n", minval=4, maxval=4, distribution="uniform")
    >>> fuzzer = Fuzzer(
    ...     [[n]], [[FuzzedTensor("x", size=("n", 3), min_elements=1, probability_contiguous=1.0)]], seed=0
    ... )
    >>> [tensors["x"].shape for tensors, tensor_params, params in fuzzer.take(1)]
    [torch.Size([4, 3])]
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        steps: tuple[str | int, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: torch.dtype = torch.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., torch.Tensor] | None = None,
    ) -> None:
        self._name, self._size, self._steps, self._dtype, self._cuda = name, size, steps, dtype, cuda
        self._probability_contiguous, self._dim_parameter = probability_contiguous, dim_parameter
        self._min_elements, self._max_elements = min_elements, max_elements
        self._max_allocation_bytes, self._tensor_constructor = max_allocation_bytes, tensor_constructor

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: tuple[int, ...], dtype: torch.dtype, **kwargs: Any) -> torch.Tensor:
        """Return random numbers, from [0, 1), or from 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(size=size, dtype=dtype, device="cpu")
        return torch.randint(1, 127, size=size, dtype=dtype, device="cpu")

    def _make_tensor(self, params: Parameters, state: np.random.RandomState) -> tuple[torch.Tensor, dict[str, Any]]:
        size, steps, allocation_size = self._get_size_and_steps(params)
        construct = self._tensor_constructor or self.default_tensor_constructor
        raw = construct(size=allocation_size, dtype=self._dtype, **params)
        if self._cuda:
            raw = raw.cuda()
        dim = len(size)
        order = np.arange(dim)
        if state.rand() > self._probability_contiguous:
            while dim > 1 and np.all(order == np.arange(dim)):
                order = state.permutation(raw.dim())
            raw = raw.permute(order.tolist()).contiguous().permute(np.argsort(order).tolist())
        tensor = raw[tuple(slice(0, length * step, step) for length, step in zip(size, steps, strict=True))]
        return tensor, {
            "numel": tensor.numel(),
            "order": order,
            "steps": steps,
            "is_contiguous": tensor.is_contiguous(),
            "dtype": str(self._dtype),
        }

    def _get_size_and_steps(self, params: Parameters) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        dim = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]

        def resolve(values: tuple[str | int, ...]) -> tuple[int, ...]:
            known = [params.get(value, value) for value in values][:dim]  # type: ignore[arg-type]
            return (*known, *[1] * (dim - len(known)))

        size, steps = resolve(self._size), resolve(self._steps or ())
        return size, steps, tuple(length * step for length, step in zip(size, steps, strict=True))

    def satisfies_constraints(self, params: Parameters) -> bool:
        """Return whether the tensor of these parameters is neither too small nor too large."""
        size, _, allocation_size = self._get_size_and_steps(params)
        elements = math.prod(size)
        if elements < 0:
            raise AssertionError("Computed number of elements is negative")
        if self._max_elements is not None and elements > self._max_elements:
            return False
        if self._min_elements is not None and elements < self._min_elements:
            return False
        return self._max_allocation_bytes is None or (
            math.prod(allocation_size) * self._dtype.itemsize <= self._max_allocation_bytes
        )


class Fuzzer:
    """Draws parameters until all constraints hold, and makes the tensors of them.

    Args:
        parameters, tensors: what is drawn and made; lists among them are unpacked.
        constraints: called with the parameters; False means that others are drawn.
        seed: of the draws and of torch's generator; the same seed gives the same tensors.

    Raises:
        ValueError: a name twice.

    >>> from torch.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer
    >>> k = FuzzedParameter("k", minval=1, maxval=8, distribution="uniform")
    >>> fuzzer = Fuzzer([k], [FuzzedTensor("x", size=("k", 2))], seed=0)
    >>> [(params["k"], tensors["x"].shape) for tensors, _, params in fuzzer.take(1)]
    [(6, torch.Size([6, 2]))]
    """

    def __init__(
        self,
        parameters: list[Any],
        tensors: list[Any],
        constraints: list[Callable[..., Any]] | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is None:
            seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64))
        self._seed, self._constraints = seed, constraints or ()
        self._parameters: tuple[Any, ...] = self._unpack(parameters, FuzzedParameter)
        self._tensors: tuple[Any, ...] = self._unpack(tensors, FuzzedTensor)
        twice = {one.name for one in self._parameters} & {one.name for one in self._tensors}
        if twice:
            raise ValueError(f"Duplicate names in parameters and tensors: {twice}")
        self._rejections = self._total_generated = 0

    @staticmethod
    def _unpack(values: Iterable[Any], cls: type) -> tuple[Any, ...]:
        return tuple(itertools.chain.from_iterable([one] if isinstance(one, cls) else one for one in values))

    def take(self, n: int) -> Iterator[tuple[dict[str, torch.Tensor], dict[str, dict[str, Any]], Parameters]]:
        """Yield ``n`` times tensors, their properties and the parameters; ValueError when 1,000 draws do not satisfy."""
        state = np.random.RandomState(self._seed)
        torch.manual_seed(int(state.randint(low=0, high=2**63, dtype=np.int64)))
        for _ in range(n):
            params = self._generate(state)
            made = {one.name: one._make_tensor(params, state) for one in self._tensors}
            yield (
                {name: tensor for name, (tensor, _) in made.items()},
                {name: properties for name, (_, properties) in made.items()},
                params,
            )

    @property
    def rejection_rate(self) -> float:
        """The share of draws that did not satisfy the constraints."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def _generate(self, state: np.random.RandomState) -> Parameters:
        kept: Parameters = {}
        for _ in range(_TRIES):
            drawn = {}
            for one in self._parameters:
                drawn[one.name] = kept[one.name] if one.name in kept else one.sample(state)
                if one.strict:
                    kept[one.name] = drawn[one.name]
            params = self._resolve_aliases(drawn)
            self._total_generated += 1
            fits = all(holds(params) for holds in self._constraints)
            if fits and all(one.satisfies_constraints(params) for one in self._tensors):
                return params
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")

    @staticmethod
    def _resolve_aliases(params: Parameters) -> Parameters:
        params = dict(params)
        waiting = [name for name, value in params.items() if isinstance(value, ParameterAlias)]
        while waiting:
            for name in waiting:
                params[name] = params[params[name].alias_to]
            left = [name for name in waiting if isinstance(params[name], ParameterAlias)]
            if len(left) == len(waiting):
                raise ValueError(f"ParameterAlias cycle detected\n{params}")
            waiting = left
        return params


adopt(globals())
