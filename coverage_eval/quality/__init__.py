"""Scores of quality: BLEU, chrF and TER by sacreBLEU; METEOR."""
