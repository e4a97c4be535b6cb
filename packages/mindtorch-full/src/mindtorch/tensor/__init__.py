"""The tensor class, assembled from mixins by concern and the methods of the op table."""
