"""Point-to-point code: read, run on models of the engines, judged, rewritten."""
