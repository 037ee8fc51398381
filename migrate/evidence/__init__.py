"""What recorded runs reached of a project, and what they did not: the static sites are the denominator no recorder has."""
