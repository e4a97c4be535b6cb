"""What data pipes are made with."""
