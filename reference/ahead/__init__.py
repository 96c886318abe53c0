"""Steps that are loaded ahead: the ring of buffers, and the processes that fill it."""
