"""What torch does, as data: one row a callable, each with how it is known.

`table.lookup(name)` finds the row of a qualified name, `conditions.evaluate(condition, facts)` judges what a row
says of one call.  The rows are the `*.rows` files beside this one; `grammar` says how they are written.
"""
