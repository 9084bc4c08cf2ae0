"""Studies: several models, revisions and settings on several benchmarks; a sweep is a study of one training."""
