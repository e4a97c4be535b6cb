"""Random operands of the native kernels, through the public functions, native code against numpy's kernels."""
