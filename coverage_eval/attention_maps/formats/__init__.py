"""The formats that MT toolkits write attention in, one file a toolkit."""
