"""`torch._dispatch`: switches of the dispatcher."""
