"""A differential fuzz: the same random calls in a process of ours and in one of torch's, outcomes compared."""
