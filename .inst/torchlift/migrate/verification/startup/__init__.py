"""The folder that a tried command gets on its `PYTHONPATH`; nothing but `sitecustomize` may lie here."""
