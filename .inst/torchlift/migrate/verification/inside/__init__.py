"""What runs inside the processes of a tried command, under the name `_torchlift_verify`: standard library, Python 3.9."""
