"""Sessions of coding agents, read where the agents keep them."""

__version__ = "0.1.0"
