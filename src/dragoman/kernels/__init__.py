"""What PyTorch does slowly on a CPU, in a few hundred lines of C.

They come compiled with a wheel, or the machine's own compiler makes them when first
needed. Most are for learning; a search has one for a whole step of a decoder and some
for what it asks of logits. Each does what some lines of `dragoman.model`,
`dragoman.decoding` or `dragoman.training` do, which is what happens where there is no
compiler, on a GPU, and where somebody watches.
"""
