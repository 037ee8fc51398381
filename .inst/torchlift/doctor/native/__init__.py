"""Readers of native libraries: ELF and PE headers, dynamic linking, embedded device code. Nothing is ever loaded."""
