"""Which torch wheel runs on which GPU, driver and platform: sourced tables and the choice between wheels."""
