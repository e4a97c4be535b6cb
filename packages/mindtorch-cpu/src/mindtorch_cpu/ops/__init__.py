"""The CPU kernels by family. Importing the package registers them all."""

from mindtorch_dispatch.table.families import load_families

from .. import native

FAMILIES = load_families(__name__, __path__)

if native.module is not None:
    native.install(native.module)
