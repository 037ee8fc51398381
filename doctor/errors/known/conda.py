"""conda: what it does not find, and how it breaks."""

from __future__ import annotations

from torchlift.doctor.errors.known.causes_of_installing import CONDA_UNSOLVED, NO_SOLUTION
from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread

_CONDA = "conda, conda/exceptions.py of 0f64223f, 2026-08-21, read 2026-11-26"

ROWS = (
    KnownError(
        id="index-without-packages",
        pattern=r"Looking in indexes: (?P<index>https?://(?!pypi\.org|pypi\.python\.org|download\.pytorch)[^\s,]{1,100})\s[^\0]{0,600}?\((?:from versions: none|from versions: )\)|Looking in indexes: (?P<index2>https?://(?!pypi\.org|pypi\.python\.org|download\.pytorch)[^\s,]{1,100})\s[^\0]{0,300}?No matching distribution found",
        cause="pip asks one index only, {index}, which is not PyPI, and that has nothing of the package (`from versions: none`): it is down or has moved, is not whole (an index of one's own, a vendor's, a Jetson's), or wants a login",
        remedy="Look whether {index} answers (curl -sI). Where it is set: python -m pip config list, the variables PIP_INDEX_URL and UV_INDEX_URL, --index-url in a script or Dockerfile. Ask PyPI beside it (--extra-index-url https://pypi.org/simple) or instead (--index-url https://pypi.org/simple). Jetsons: pypi.jetson-ai-lab.io with jp6/cu126 and the like took the place of jetson.webredirect.org and pypi.jetson-ai-lab.dev",
        command="python -m pip config list; env | grep -iE 'pip_|uv_.*index'",
        says=(
            "Looking in indexes: http://jetson.webredirect.org/jp6/cu122\nERROR: Could not find a version that satisfies the requirement pip (from versions: none)",
        ),
        sources=(
            thread("dusty-nv/jetson-containers", 581, "2024-08-03"),
            thread("dusty-nv/jetson-containers", 1468, "2025-10-22"),
        ),
        likely=True,
    ),
    KnownError(
        id="conda-builds-of-another-system",
        pattern=r"(?:PackagesNotFoundError|ResolvePackageNotFound|PackagesNotFoundInChannelsError)[^#]{0,200}?\n ?- (?:[\w.-]{1,60}::)?[\w.-]{1,60}={1,2}[\w.]{1,30}=\w{2,40}",
        cause="The environment file names builds (NAME=VERSION=BUILD), which exist for the one system and the one day on which it was exported",
        remedy="Take the builds out of the file (sed -E 's/(=[^=]+)=[^=]+$/\\1/' environment.yml > new.yml) and the packages that only that system has (vc, ucrt, libgcc-ng, ld_impl); whoever exports: conda env export --from-history. torch itself: with pip in that environment",
        command="conda env create -f new.yml",
        checks=("python-platform",),
        says=(
            "Solving environment: failed\n\nResolvePackageNotFound: \n  - pyrsistent==0.18.0=py310h2bbff1b_0\n  - libcurl==8.1.1=h86230a5_2",
        ),
        sources=(thread("niklasku/IF-webui", 7, "2023-10-04"),),
        likely=True,
    ),
    KnownError(
        id="conda-packages-not-found",
        pattern=r"PackagesNotFoundError: The following packages are (not (available|found)|missing)|ResolvePackageNotFound:",
        cause="conda has no packages of these names for this platform and Python in its channels (a file environment.yml that was exported with builds of another system has many such): the channel pytorch has ended with torch 2.5, has "
        "nothing for 32 bits and linux-aarch64, and no CUDA for macOS",
        remedy="Install torch with pip in that environment, or from conda-forge (pytorch-gpu)",
        checks=("python-version", "python-platform"),
        wheel=True,
        says=(
            "PackagesNotFoundError: The following packages are not available from current channels:\n\n  - cudatoolkit=11.7",
            "PackagesNotFoundError: The following packages are not available from current channels:\n\n  - torchaudio==0.9.0\n"
            "  - pytorch==1.9.0",
        ),
        sources=(
            thread("myshell-ai/OpenVoice", 83, "2024-01-07"),
            thread("pytorch/pytorch", 118172, "2024-01-24"),
        ),
    ),
    KnownError(
        id="conda-solver-broken",
        pattern=r"Error while loading conda entry point: (?:conda-libmamba-solver|conda-\w{1,30})|CustomValidationError: Parameter solver|module 'libmambapy' has no attribute|You have chosen a non-default solver backend \(libmamba\)",
        cause="conda's solver libmamba does not load: its parts in the base environment are of releases that do not belong together. Environments themselves are not touched by it",
        remedy="Upgrade the parts together with the old solver: conda install -n base --solver=classic conda libmambapy conda-libmamba-solver libarchive; if that fails, install Miniforge into a new folder",
        command="conda install -n base --solver=classic 'conda-libmamba-solver>=24' libmambapy libarchive",
        says=(
            "Error while loading conda entry point: conda-libmamba-solver (module 'libmambapy' has no attribute 'QueryFormat')",
        ),
        sources=(thread("Comfy-Org/desktop", 836, "2025-02-07"),),
    ),
    KnownError(
        id="conda-broken",
        pattern=r"No module named 'conda(?:\.[\w.]{1,60})?'|conda: (?:bad interpreter|/\S{1,120}: bad interpreter)|InvalidArchiveError|CondaVerificationError|(?:SafetyError|ClobberError|ClobberWarning): ",
        cause="conda's own installation or its cache of packages is damaged: its Python was replaced (conda install python in base), its folder was moved, or a download broke off",
        remedy="Packages that are damaged: conda clean --all, then again. conda itself: install Miniforge into a new folder and make the environments anew from their files (conda env export first, where it still runs)",
        command="conda clean --all",
        says=("ModuleNotFoundError: No module named 'conda'",),
        sources=(thread("biostars/biostar-handbook", 93), thread("Netflix/metaflow", 706, "2021-09-17")),
        likely=True,
    ),
    KnownError(
        id="conda-environment-damaged",
        pattern=r"CorruptedEnvironmentError|DirectoryNotACondaEnvironmentError|NoBaseEnvironmentError|The target directory exists, but it is not a conda environment|PaddingError: |BinaryPrefixReplacementError",
        cause="The folder is not a whole environment of conda: its conda-meta is damaged or missing (an install that was stopped, a venv or a copied folder under that name), or its path is too long for the packages",
        remedy="Write down what is needed (conda list -p PATH, pip freeze), delete the folder and make it anew under a short path; copying an environment to another path does not work: conda create --clone, or conda-pack",
        command="conda env list",
        says=("CorruptedEnvironmentError: The target environment has been corrupted.",),
        sources=(_CONDA,),
    ),
    KnownError(
        id="conda-cannot-write",
        pattern=r"EnvironmentNotWritableError|NoWritablePkgsDirError|NoWritableEnvsDirError|CondaToSNonInteractiveError|Terms of Service have not been accepted",
        cause="conda may not write into that installation (one of root or of a cluster), or Anaconda's own channels ask that their terms be accepted first",
        remedy="Use an installation of your own (Miniforge in the home folder, which takes conda-forge alone and asks no terms), or conda create -p ~/envs/NAME with CONDA_PKGS_DIRS=~/.conda/pkgs; terms: conda tos accept --override-channels --channel https://repo.anaconda.com/pkgs/main, or --override-channels -c conda-forge",
        says=("CondaToSNonInteractiveError: Terms of Service have not been accepted for the following channels.",),
        sources=("the wording as programs print it; no thread was read for it, 2026-11-26",),
    ),
    KnownError(
        id="conda-environment",
        pattern=r"Could not find conda environment: |Run 'conda init' before 'conda activate'|EnvironmentNameNotFound|EnvironmentLocationNotFound|CondaValueError: (could not parse|prefix already exists|The target prefix)|conda: error: (unrecognized arguments|argument COMMAND)|SpecNotFound: |CondaFileIOError|CommandNotFoundError: Your shell has not been properly configured",
        cause="conda was called in a way that it does not take, or the environment is not there because making it failed (the line `failed` or an error above: ask for that one): a file of an environment goes to `conda env create -f FILE` (not conda create or install), an environment is named by its name (conda env list) or with -p PATH, and `conda activate` needs a shell that was set up",
        remedy='conda env create -f environment.yml -n NAME (or conda env update); conda env list shows the names; in scripts and Dockerfiles use conda run -n NAME PROGRAM, or first: eval "$(conda shell.bash hook)"',
        command="conda env list",
        says=(
            "EnvironmentNameNotFound: Could not find conda environment: nv-ingest-dev",
            "CondaValueError: could not parse 'name: nv_ingest_runtime' in: ./conda/environments/nv_ingest_environment.yml",
            "conda: error: unrecognized arguments: environment.yml",
        ),
        sources=(
            thread("NVIDIA/NeMo-Retriever", 441, "2025-02-13"),
            thread("Urban-Analytics/RAMP-UA", 130, "2020-09-15"),
        ),
    ),
    KnownError(
        id="conda-download",
        pattern=r"CondaHTTPError|CondaSSLError|HTTP 000 CONNECTION FAILED|ChecksumMismatchError",
        cause="conda could not fetch a package or has a damaged one in its cache",
        remedy="Clear the cache and try again; behind a proxy set proxy_servers in .condarc, behind a mirror its channels",
        command="conda clean --all --yes",
        says=(
            "CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.anaconda.org/pytorch/linux-64/repodata.json>",
        ),
        sources=(UNREAD,),
    ),
    KnownError(
        id="conda-channel",
        pattern=r"UnavailableInvalidChannel|ChannelNotAllowed|ChannelDenied|NoChannelsConfiguredError|The channel is not accessible or is invalid",
        cause="A channel of conda is not there under that name, has nothing for this platform, or is forbidden by the configuration of this machine",
        remedy="conda config --show channels default_channels channel_alias custom_channels shows what is asked; take the channel out (conda config --remove channels NAME), correct a mirror's URL in ~/.condarc, or --override-channels -c conda-forge",
        command="conda config --show-sources",
        says=("UnavailableInvalidChannel: The channel is not accessible or is invalid.",),
        sources=(_CONDA,),
    ),
    KnownError(
        id="conda-package-for-another-python",
        pattern=r"package (?P<package>[\w.-]{1,60}?)-(?P<release>\d[\w.]{0,20})-\S{1,40} requires python(?:_abi)? (?P<python>[\w.,>=<*!|]{1,40})[^\n]{0,40}|(?P<package2>[\w.-]{1,60}) (?P<release2>[\d.*]{1,14}) would require[\s│├└─]{0,20}python (?P<python2>[\w.,>=<*!|]{1,40})|(?<![\w.-])(?P<package3>[\w.-]{1,60})[^\n]{0,40} -> python\[?(?:version=)?'?(?P<python3>[\w.,>=<*!|]{1,60})",
        cause="conda has {package} {release} only for other Pythons ({python}) than the one that the environment has or that was asked for",
        remedy="Make the environment with a Python that {package} {release} has a build for (conda create -n new python=3.10, a number from the list in the message), or leave {package}'s release open so that a newer one is taken, or install it with pip in an environment with that Python. conda search {package} lists its builds and their Pythons (py310 is 3.10)",
        command="conda search {package}",
        checks=("python-version",),
        says=(
            "LibMambaUnsatisfiableError: Encountered problems while solving:\n  - package numpy-1.21.3-py310h6e1bb13_1 requires python >=3.10,<3.11.0a0, but none of the providers can be installed",
        ),
        sources=(thread("espnet/espnet", 5208),),
        likely=True,
    ),
    KnownError(
        id="conda-solving-failed",
        pattern=r"Solving environment: (?:\.{3}working\.{3} )?failed$",
        cause="conda found no set of packages for what was asked; this line does not say why, the lines below it do",
        remedy="Read on to the end; where nothing stands there, conda env create -f environment.yml -v 2>&1 | tee conda.log",
        causes=CONDA_UNSOLVED,
        command="torchlift doctor --explain-error conda.log",
        checks=("python-platform",),
        says=("Collecting package metadata (repodata.json): done\nSolving environment: failed",),
        sources=(thread("GONGJIA0208/Diffpose", 18),),
        level="vague",
        likely=True,
        general=True,
    ),
    KnownError(
        id="conda-unsatisfiable",
        causes=NO_SOLUTION,
        pattern=r"LibMambaUnsatisfiableError(?![^!]{0,400}(?:__cuda|requires python|would require))|failed with initial frozen solve|Found conflicts! Looking for incompatible packages|(?<!Mamba)UnsatisfiableError: |The following specifications were found to be (?:in conflict|incompatible with each other)|The following specifications were found to be incompatible with (each other|the existing python|your system)|Could not solve for environment specs",
        cause="conda found no set of packages that satisfies all requests",
        remedy="Read the lines below it; the shortest way out is mostly a fresh environment (conda create -n new python=3.12, then python -m pip install torch and the rest)",
        checks=("python-version", "python-platform"),
        says=(
            "LibMambaUnsatisfiableError: Encountered problems while solving:",
            "Solving environment: failed with initial frozen solve. Retrying with flexible solve.",
        ),
        sources=(UNREAD,),
        wheel=True,
        likely=True,
    ),
    KnownError(
        id="conda-pip-failed",
        pattern=r"CondaEnvException: Pip failed|Pip subprocess error",
        cause="The environment was made, and pip's part of the file failed; its error stands above, between `Pip subprocess output` and this line",
        remedy="conda activate NAME, then by hand: pip install torch, then pip install --no-build-isolation -r requirements.txt 2>&1 | tee pip.log: the first `ERROR:` or `error:` there is the cause",
        command="torchlift doctor --explain-error pip.log",
        says=("CondaEnvException: Pip failed",),
        sources=(thread("markstrefford/running-detectron2-on-windows-wsl2-rtx30xx", 2),),
        level="vague",
    ),
    KnownError(
        id="conda-run-failed",
        pattern=r"`conda run [^`\n]{1,200}` failed\.? \(See above for error\)",
        cause="A program that conda run started ended with an error; its own output, above this line, says why",
        remedy="Run it without conda run to see all of it: conda activate NAME, then the program (conda run --no-capture-output shows the output as it comes); the last line of the traceback above is what to ask for",
        command="conda run --no-capture-output -n NAME PROGRAM",
        says=(
            "ERROR conda.cli.main_run:execute(124): `conda run python /opt/project/test.py` failed. (See above for error)",
        ),
        sources=(thread("google-research/timesfm", 7, "2024-05-10"),),
        level="vague",
    ),
    KnownError(
        id="conda-refuses",
        pattern=r"PackageNotInstalledError|PackagesNotFoundInPrefixError|CondaUpdatePackageError|EnvironmentFileExtensionNotValid|EnvironmentFileEmpty|EnvironmentSpecPluginNotDetected|InvalidVersionSpec|InvalidMatchSpec|InvalidInstaller|SpecsConfigurationConflictError|DisallowedPackageError|EnvironmentIsFrozenError|NotWritableError|CondaMemoryError|RemoveError: '",
        cause="conda refuses what it was asked: a package that is not there to be updated or removed, a file that is no environment file (.yml, or .txt made by conda list --explicit), a version that it cannot read, or an environment that is frozen or not yours; the line says which",
        remedy="conda list -n NAME shows what is installed; a requirements.txt of pip goes to pip install -r; NAME=VERSION has one `=` in conda; a pin stands in conda-meta/pinned or ~/.condarc; what belongs to root or a cluster: make an environment of your own (conda create -p ~/envs/NAME)",
        command="conda config --show-sources",
        says=(
            "PackageNotInstalledError: Package is not installed in prefix.",
            "EnvironmentFileEmpty: Environment file 'env.yml' is empty.",
        ),
        sources=(_CONDA,),
    ),
    KnownError(
        id="conda-version-remark",
        pattern=r"Using \.\* with relational operator is superfluous and deprecated|A newer version of conda exists",
        cause="A remark of conda about its own release or about how a package wrote its requirements; it installs nonetheless",
        remedy="Nothing has to be done; an error of the same run stands below it",
        says=(
            "WARNING conda.models.version:get_matcher(556): Using .* with relational operator is superfluous and deprecated",
        ),
        sources=(thread("niklasku/IF-webui", 7, "2023-10-04"),),
        level="warning",
    ),
)
