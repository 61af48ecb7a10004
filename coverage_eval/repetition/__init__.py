"""Words that an output repeats: REP, repeated n-grams and loops."""
