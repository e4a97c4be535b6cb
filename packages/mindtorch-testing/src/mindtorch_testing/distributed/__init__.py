"""Programs of several processes, ours and torch's."""
