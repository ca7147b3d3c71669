"""A fake provider for trying Seoga without a key: it speaks the providers' protocols on loopback.

Its vectors come from hashed words and its contexts from the first words of a passage: nothing here
is a model, and its root page says so.
"""
