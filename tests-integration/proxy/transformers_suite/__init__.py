"""transformers' own model tests, run on MindTorch where torch is not installed."""
