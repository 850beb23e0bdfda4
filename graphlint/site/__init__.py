"""The capture site: how a captured region and the code around it fit together.

A replay re-issues recorded kernels with recorded pointers, so what is wrong with a capture is often written before or
after it: a warm-up, a rebound input, an output that is kept.  This layer walks the code that captures, in the order in
which it runs, and yields events.

    things   objects as the site sees them: graphs, modules, tensors, streams, and the slots that hold them
    acts     what happens to things, one after the other
    walk     runs a function on things and writes the acts down
    roots    which functions are walked, and in what order a class is used
    within   which regions are walked by themselves, whoever captures them; `growth` says which may let state grow
    story    the acts of one walk, cut into regions and replays
    answers  asks every question of every story: `site_events`

The other modules each hold the questions of one kind: inputs, outputs, weights, warm-up, training, streams, buckets ...
"""
