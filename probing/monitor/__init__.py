"""Knowledge during training: a callback for the Trainer of transformers, and a function for other training loops.

`KnowledgeCallback` probes the model at a chosen cadence and logs the scores as the Trainer logs everything else.
`measure` probes a network once and returns the scores as numbers by name. Both need the extra `training`, apart from
`measure` in a loop that does without the Trainer.
"""

from probing.monitor.callback import KnowledgeCallback
from probing.monitor.measuring import Measurement, Monitor, measure

__all__ = ["KnowledgeCallback", "Measurement", "Monitor", "measure"]
