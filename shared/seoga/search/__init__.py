"""One search() for the command line, the gateway, the console, eval and benchmarks."""
