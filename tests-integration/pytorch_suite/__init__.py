"""PyTorch's own tests, run without torch (`python tests-integration/pytorch_suite --help`)."""
