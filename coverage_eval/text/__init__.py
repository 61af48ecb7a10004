"""The only reader and writer of text: segments, tokens, parallel files, batches."""
