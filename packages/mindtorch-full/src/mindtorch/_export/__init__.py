"""`torch._export`: what programs mark for an exporter."""
