"""Probes: the only code of the doctor that looks at the world. Each fills one part of `Facts` and never raises."""
