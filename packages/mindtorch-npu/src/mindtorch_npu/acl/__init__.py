"""Access to the vendor's runtime through its Python module `acl`."""
