"""`torch.<name>` functions: those of the op table, and the few that are not plain ops."""
