"""lm-evaluation-harness: this library's scoring for its tasks, and its command for the same as a result."""
