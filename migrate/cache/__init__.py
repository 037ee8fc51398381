"""What earlier runs found, on disk: a run over a project that has not changed since takes its findings from there.

Nothing here is believed because it is there. An entry answers only the question that it was made for (`request`), and only
while every file of the project that a run may look at is as it was (`tree`); it is data in a closed format (`records`), never
code, and names no file that is opened. A folder that a repository could bring along is refused (`folder`), since it could
hide findings.
"""
