"""Confirming a target on several ranks at once: one process a rank, started by torchrun's elastic agent.

calls       one collective as a rank issued it, and the mode that sees them all
journal     what a rank writes down while it runs, line by line, so that a rank that hangs has told how far it came
sequences   which rank issued another collective than its partners, or none
meeting     words that ranks exchange through the agent's store, beside the collectives under test
post        where one process stands among the ranks
phases      which collectives belong to what a rank is doing
rank        what one rank does with a target
worker      the process of one rank
launch      the process of the agent: starts the ranks, ends them at the limit, reads their journals
merged      one outcome of all ranks
shown       the section of the report
"""
