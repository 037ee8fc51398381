"""How findings say things."""
