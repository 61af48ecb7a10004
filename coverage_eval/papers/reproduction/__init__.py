"""The experiments of the papers, run again.

``iris``, ``timing`` (with data sets that ``multilabel`` reads) and ``number_words`` (trained by
``number_words_training``) belong to Madsen et al. 2017. The others train, decode and score the
systems of Malaviya et al. 2018 (extra ``nmt``), bottom to top: ``run_folder`` (settings and files),
``paper_systems`` (which systems there are), ``bitext`` (text as pieces, numbers and tensors),
``fertilities``, ``translator`` (the model), ``training``, ``decoding``, ``experiment`` (all of it,
resumable), ``trained_system`` (other text; the replay in NumPy), ``run_results`` and ``run_audit``.
"""
