"""What PyTorch does slowly on a CPU, in a few hundred lines of C.

Compiled by the machine's own compiler when a training begins, and used only while it
learns. Each kernel does what some lines of `dragoman.model` or `dragoman.training` do,
which is what happens where there is no compiler, on a GPU and in every translation.
"""
