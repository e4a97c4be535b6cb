"""Sparse coordinate tensors: enough of them for gradients of embeddings and the optimizers that take such.

`coo` makes and reads them, `kernels` holds what runs for the key SparseCPU. Rows are in `ops/sparse.py`.
"""
