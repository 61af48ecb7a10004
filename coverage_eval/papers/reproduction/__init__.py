"""The papers' experiments, run again.

Madsen et al. 2017: ``sparsemax_regression`` and ``timing``, with data sets that ``multilabel``
reads, and ``number_words``, trained by ``number_words_training``.

Malaviya et al. 2018 (extra ``nmt``), bottom to top: ``run_folder`` (settings and files),
``paper_systems`` (the systems of the tables), ``bitext`` (text as pieces, numbers and tensors),
``fertilities``, ``translator`` (the model), ``training``, ``decoding``, ``experiment`` (all of
this, resumable), ``trained_system`` (other text; the replay in NumPy), ``run_results`` and
``run_audit``.
"""
