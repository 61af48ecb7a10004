"""Convert ``attn_matrices_….out`` of the authors' ``-dump_attn``, a pickle, to .npz.

    python dump_attn.py FILE OUT.npz    # then: attention convert OUT.npz …

Only for files that you trust: reading a pickle can run any program.
"""

import pickle
import sys

import numpy as np

with open(sys.argv[1], "rb") as file:  # noqa: PTH123
    maps = pickle.load(file, encoding="latin1")["pred"]  # noqa: S301
np.savez(sys.argv[2], **{f"arr_{number}": each for number, each in enumerate(maps)})
