"""The device's kernels by family. Importing the package registers them all."""

from mindtorch_dispatch.table.families import load_families

FAMILIES = load_families(__name__, __path__)
