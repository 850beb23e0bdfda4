"""`graphlint lsp`: findings in an editor, from what its buffers hold and not from what was saved.

    desk        open buffers and what was found in them; knows nothing of the protocol
    convert     findings and edits in the words of the protocol
    actions     what an editor offers at a finding: fixes, suppressions, the calls that lead there
    server      the protocol: when to check, when to give up, what to send

Only this package imports pygls, which the extra `lsp` brings.
"""
