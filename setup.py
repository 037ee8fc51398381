"""Map the top-level folders below the `torchlift` import name; everything else is in pyproject.toml.

setuptools drops sub-packages that are not listed, so the list is found, folder by folder.
"""

from setuptools import find_packages, setup

FOLDERS = {
    "torchlift": "src/torchlift",
    "torchlift.migrate": "migrate",
    "torchlift.rules": "rules",
    "torchlift.doctor": "doctor",
    "torchlift.testing": "testing",
    "torchlift.record": "record",
    "torchlift.convert": "convert",
}

packages = []
for name, folder in FOLDERS.items():
    packages += [name, *(f"{name}.{found}" for found in find_packages(folder))]

setup(packages=packages, package_dir=FOLDERS, package_data={"": ["py.typed", "*.json", "data/*"]})
