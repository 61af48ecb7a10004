"""The number-words task of Madsen et al. 2017 (section 3.3): "three seven four" becomes "374#".

Bottom to top: ``number_words`` (the examples), ``reader`` (the encoder-decoder of eq. 12),
``training`` (resumable), ``accuracy`` (results beside the printed ones), ``digits_run`` (all of it
in one folder).
"""
