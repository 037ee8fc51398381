"""The one folder that a recorded command gets on its `PYTHONPATH`; nothing but `sitecustomize` may lie here."""
