"""The one folder that a command gets on its `PYTHONPATH`; nothing but `sitecustomize` may lie here."""
