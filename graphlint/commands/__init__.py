"""The commands of the command line, one module each; each is imported only when it is run."""
