"""Quantized tensors: integers that stand for numbers, with one scale and zero point for all or for each channel.

`tensors` makes and reads them, `rounding` goes between numbers and integers, `table` holds what runs for the key QuantizedCPU:
views are those of the integers, `kernels` has the other operators. Rows are in `ops/quantized.py`.
"""
