"""What programs see of torch's public names without a call: parameters, ancestors, constants, lists, attributes, texts."""
