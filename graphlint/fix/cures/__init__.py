"""The cures; importing them declares them."""

from graphlint.fix.cures import buffers, compiled, literals, masks, reads, sites, stores, suggestions, transfers

__all__ = ["buffers", "compiled", "literals", "masks", "reads", "sites", "stores", "suggestions", "transfers"]
