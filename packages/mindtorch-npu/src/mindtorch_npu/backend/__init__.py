"""Operators on Ascend devices: the part of this distribution that knows tensors (extra `backend`).

Found through the entry point `npu` of the group `mindtorch.backends`. It registers no kernel yet, so every operator on
an `npu` tensor raises the call path's error for a missing kernel, which names operator, device and dtype.
"""
