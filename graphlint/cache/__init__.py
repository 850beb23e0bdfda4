"""What an earlier run found, for as long as it still holds.

    store      files in the cache folder: whole or absent, believed only if their checksum holds
    witness    what was seen of files and folders, and whether it is still so
    printed    the whole output of a run, for the same command over an unchanged tree
    rows       findings and regions as plain lists
    tree       what each file of a tree led to, and which files that depends on
    shelf      the accounts and pages of a tree, each read by itself

Nothing in a cache can run code, and nothing in it is needed: whatever cannot be read or written is found anew.
"""
