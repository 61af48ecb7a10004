"""coverage-eval: finds the words that a machine translation repeats or leaves out.

Scores are functions (``rep``, ``letter_rep``, ``drop``, ``soft_drop``, ``bleu``,
``meteor``) and classes of the same names in capitals; ``Aligner`` links the source, ``compare``
compares systems. Attention is in ``attention``, ``attention_maps`` and ``plotting``.

>>> import coverage_eval as ce
>>> print(ce.rep(["a red red house"], ["a red house"]))
REP|refs:1|n:2|w1:1.0|w2:2.0|norm:refwords|case:mixed|tok:none|version:0.1.0 = 66.67
"""

import lazy_loader

# The stub beside this file says where each name is, for type checkers and for lazy imports.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
