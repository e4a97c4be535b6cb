"""Running plans: the executor, what stands for elements in kernels, and what watches calls."""
