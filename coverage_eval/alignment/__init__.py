"""Links between source and target words: from a model or from files, gold links, fertilities."""
