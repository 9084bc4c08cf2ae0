"""Type aliases of arrays and token ids that many modules share."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Ids = tuple[int, ...]
