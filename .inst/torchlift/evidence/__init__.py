"""What a recorded run says about a project: the evidence file, and which of it still holds for the source as it is.

`records` are the types of the file, `file` reads and writes it, `merge` unites two, `places` ties what was recorded to
source text by hashes, `freshness` asks whether that text is still the same. Nothing here imports torch.
"""
