"""`torch._vendor.packaging`: versions as PEP 440 orders them."""
