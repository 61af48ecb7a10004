"""Source words without a translation: DROP, omissions, their probabilities, planted errors."""
