"""lm-evaluation-harness: this library's scoring for its tasks, and its logged samples as results."""
