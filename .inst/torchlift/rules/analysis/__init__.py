"""Questions that rules of every family ask. Nothing here knows a rule or a family."""
