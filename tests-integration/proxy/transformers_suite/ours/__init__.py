"""Our testers for transformers' common model tests; copied into a tree that holds those tests."""
