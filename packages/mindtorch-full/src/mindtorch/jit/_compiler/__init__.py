"""The compiler of TorchScript: from the syntax of Python to a graph, and from the graph to the text that archives hold."""
