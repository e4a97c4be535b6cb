"""What the reducer says when gradients come more than once, or not at all."""

UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
)
UNUSED = "your module has parameters that were not used in producing loss. "
CHANGED = (
    "your training graph has changed in this iteration, e.g., one parameter is used in first iteration, but then got "
    "unused in the second iteration. this is not compatible with static_graph set to True."
)
NOW_USED = (
    "Your training graph has changed in this iteration, e.g., one parameter is unused in first iteration, but then got "
    "used in the second iteration. this is not compatible with static_graph set to True."
)
ENABLE = (
    "You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`, and by \n"
    "making sure all `forward` function outputs participate in calculating loss. "
)
ENABLED = (
    "Since `find_unused_parameters=True` is enabled, this likely  means that not all `forward` outputs participate in "
    "computing loss. You can fix this by "
    "making sure all `forward` function outputs participate in calculating loss. "
)
LOCATE = (
    "\nIf you already have done the above, then the distributed data parallel module wasn't able to locate the output "
    "tensors in the return value of your module's `forward` function. Please include the loss function and the structure "
    "of the return value of `forward` of your module when reporting this issue (e.g. list, dict, iterable)."
)
DEBUG = (
    "\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to print out "
    "information about which particular parameters did not receive gradient on this rank as part of this error"
)
TWICE = """Expected to mark a variable ready only once. \
This error is caused by one of the following reasons: \
1) Use of a module parameter outside the `forward` function. \
Please make sure model parameters are not shared across multiple \
concurrent forward-backward passes. or try to use _set_static_graph() \
as a workaround if this module graph does not change \
during training loop.\
2) Reused parameters in multiple reentrant backward passes. For \
example, if you use multiple `checkpoint` functions to wrap the \
same part of your model, it would result in the same set of \
parameters been used by different reentrant backward passes \
multiple times, and hence marking a variable ready multiple times. \
DDP does not support such use cases in default. You can try to \
use _set_static_graph() as a workaround if your module graph \
does not change over iterations."""


def no_future(kind: type) -> str:
    """What is said of a hook that returns something else than a future."""
    return (
        f"Unable to cast Python instance of type {kind} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or "
        "compile in debug mode for details). DDP communication hook's callback must return a torch.futures.Future object, "
        f"but got {kind.__module__}.{kind.__qualname__}"
    )


NOT_EXPECTED = (
    'expect_autograd_hooks_ INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/distributed/c10d/reducer.cpp":1732, '
    "please report a bug to PyTorch. "
)
