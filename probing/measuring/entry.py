"""Start of the measuring process: its program is imported without garbage collection, which takes a fifth less time.

`python -m probing.measuring.entry MODULE ...` runs MODULE with the arguments that follow. Importing torch and
transformers creates more than a million objects that all stay, so that searching them for garbage is in vain.
"""

import gc
import runpy
import sys

if __name__ == "__main__":
    gc.disable()  # the program enables it when it has been imported
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
