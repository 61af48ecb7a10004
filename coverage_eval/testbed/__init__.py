"""Made-up test beds: parallel text with known links, outputs with known errors."""
