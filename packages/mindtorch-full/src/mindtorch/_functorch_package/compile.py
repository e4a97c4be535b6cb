"""`functorch.compile`: programs are not captured as graphs, so these raise when they are used."""

from mindtorch._functorch.aot_autograd import aot_function as aot_function  # type: ignore[import-not-found]
from mindtorch._functorch.aot_autograd import aot_module as aot_module  # type: ignore[import-not-found]
from mindtorch._functorch.aot_autograd import compiled_function as compiled_function  # type: ignore[import-not-found]
from mindtorch._functorch.compilers import nop as nop  # type: ignore[import-not-found]
from mindtorch._functorch.partitioners import default_partition as default_partition  # type: ignore[import-not-found]
from mindtorch._functorch.partitioners import min_cut_rematerialization_partition as min_cut_rematerialization_partition  # type: ignore[import-not-found]
