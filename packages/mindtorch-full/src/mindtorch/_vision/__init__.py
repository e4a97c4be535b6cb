"""The operators of torchvision's compiled library, which is made for PyTorch and cannot be loaded."""
