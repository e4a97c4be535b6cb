"""What other layers install into this one: autograd, the rules of batching, the native call path."""
