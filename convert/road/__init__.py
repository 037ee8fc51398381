"""The road of one archive: inputs, an eager module, export, proof. Whatever needs torch happens in processes of its own."""
