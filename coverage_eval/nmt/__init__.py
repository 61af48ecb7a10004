"""The eight systems of Malaviya et al. 2018, Table 1: trained, decoded and scored (extra ``nmt``).

From a parallel corpus to the table, bottom to top: ``presets`` (sizes), ``bpe`` and ``vocabulary``
(pieces of words and their numbers), ``bitext`` (the corpora as numbers, with links), ``bounds``
(fertilities), ``minibatches``, ``translator`` (encoder and decoder), ``optimisation`` (training),
``beam`` (decoding), ``roster`` (which systems there are), ``experiment`` (all of it, resumable).
"""
