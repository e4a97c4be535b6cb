"""What programs and backends add: operators, kernels, fallthroughs, calls by name, `torch.ops` objects."""
