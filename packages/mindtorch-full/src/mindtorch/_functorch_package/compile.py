"""`functorch.compile`: functions as compiled graphs of their forward and backward."""

from mindtorch._functorch.aot_autograd import aot_function as aot_function
from mindtorch._functorch.aot_autograd import aot_module as aot_module
from mindtorch._functorch.aot_autograd import aot_module_simplified as aot_module_simplified
from mindtorch._functorch.aot_autograd import compiled_function as compiled_function
from mindtorch._functorch.compilers import make_boxed_func as make_boxed_func
from mindtorch._functorch.compilers import nop as nop
from mindtorch._functorch.partitioners import default_partition as default_partition
from mindtorch._functorch.partitioners import min_cut_rematerialization_partition as min_cut_rematerialization_partition
