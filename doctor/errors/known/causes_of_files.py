"""Files of weights, tokenizers and configurations, and packages of two times: what tells the reasons of one message apart."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import Cause

NUMPY_TWO = (
    Cause(
        "torch is older than NumPy 2 (before 2.3; under Windows before 2.4.1), and NumPy 2 is installed",
        "python -c 'import numpy, torch; print(numpy.__version__, torch.__version__)'",
        "upgrade torch with torchvision and torchaudio, or stay with NumPy 1: python -m pip install 'numpy<2'",
        seen=r"tensor_numpy|Failed to initialize NumPy|torch[/\\\\](?:nn|functional|_higher_order_ops|_subclasses)\S{0,60}[^\0]{0,300}_ARRAY_API",
    ),
    Cause(
        "Another package's compiled part is that old (OpenCV, pandas, SciPy, matplotlib, onnxruntime, numba, an extension of one's own)",
        "the last File line above `A module that was compiled` names it",
        "upgrade that package (python -m pip install -U NAME); one that has no newer build: python -m pip install 'numpy<2' together with what else asks for NumPy 2, or build it here again",
        seen=r"cv2|pandas|scipy|matplotlib|onnxruntime|numexpr|sklearn|pyarrow|numba|bottleneck",
    ),
    Cause(
        "NumPy is not there or broken: it was left out of a container or a packed program, or mixed by conda and pip",
        "python -c 'import numpy' fails, or pip and conda both list it",
        "python -m pip install --force-reinstall 'numpy<2' (with one installer); PyInstaller: --collect-all numpy",
        seen=r"PyInstaller|_MEI|No module named 'numpy",
    ),
)

MODEL_TYPE = (
    Cause(
        "The model is newer than the installed transformers",
        "python -m pip show transformers is older than transformers_version in the model's config.json",
        "python -m pip install -U transformers (vLLM, LLaMA-Factory, swift and others name the releases that they take: upgrade them, too); for a model of these days: from github.com/huggingface/transformers",
        seen=r"does not recognize|KeyError: '|KeyError: \"|configuration_auto|rope_scaling|Tokenizer class",
    ),
    Cause(
        "Another Python or environment runs than the one in which it was upgraded, or a notebook was not started again",
        "the path in the trace, or python -c 'import transformers; print(transformers.__version__, transformers.__file__)', is of another folder or release",
        "install with that Python: python -m pip install -U transformers; restart the notebook's kernel, rebuild the container",
        seen=r"ipython|ipykernel|jupyter|\bKernel\b",
    ),
    Cause(
        "The model brings its own code, or belongs to another class (a picture and text model is not AutoModelForCausalLM)",
        "its page says trust_remote_code=True or names a class; config.json has auto_map, or architectures with another ending",
        "trust_remote_code=True where you trust it; the class that its page names (AutoModelForImageTextToText, AutoModel); a program that wraps it has to support that model",
        seen=r"Unrecognized configuration class|trust_remote_code|auto_map",
    ),
    Cause(
        "The folder is no whole model: config.json is missing or of another format (an adapter, GGUF, a cut download)",
        "ls -l FOLDER; adapter_config.json in place of config.json, or a config.json without model_type",
        "name the folder that has config.json; adapters with PeftModel.from_pretrained(base, FOLDER); download again: hf download NAME",
        seen=r"Should have a `?model_type|Unrecognized model in",
    ),
)

SAVED_OBJECTS = (
    Cause(
        "The class or function was defined in the script or notebook that saved the file (__main__), and the one that loads does not have it there",
        "the module in the message is __main__ or __mp_main__",
        "define or import it before loading, under the same name; better: save state_dict() only, and build the model from its code; functions for data loaders and tokenizers: put them into a module",
        seen=r"__main__|__mp_main__",
    ),
    Cause(
        "The repository or package whose class it is, is of another release or fork, or another folder of that name is found first",
        "python -c 'import MODULE; print(MODULE.__file__)' shows which is taken; the class is missing in that file",
        "run it in the clone that the file belongs to, at the release of its time (YOLOv5 files: git pull, or torch.hub with force_reload=True; a package as transformers: the release that saved it, pip install 'transformers==N'); no second folder `models` or `utils` on PYTHONPATH",
        seen=r"module '(?!__main__|__mp_main__|torch|numpy|pandas)",
    ),
    Cause(
        "The file was saved by a newer torch, NumPy or pandas whose function this one does not have",
        "the module is torch._utils, torch.storage, numpy._core or pandas",
        "upgrade the one that is named to the release that saved the file, or save it there again as a state_dict; numpy._core: NumPy 2 saved it and NumPy 1 reads it",
        seen=r"module '(?:torch|numpy|pandas)\b|attribute '_rebuild_",
    ),
)

NOT_A_PLAIN_PICKLE = (
    Cause(
        "The file is not the weights: a pointer of Git LFS, a web page or error text, a cut download",
        "head -c 100 FILE shows `version https://git-lfs` (operand 118) or `<` (operand 60); ls -l FILE is far too small",
        "git lfs pull, or fetch it again (hf download NAME, wget of the direct link)",
        seen=r"operand (?:118|60|10|123)\b|git-lfs|<html|invalid load key, '[<v]",
    ),
    Cause(
        "It is a pickle of a newer protocol or of other software (pickle.dump, joblib, NumPy), which weights_only does not read",
        "head -c 2 FILE | xxd shows 8004 or 8005 (operand 149); it was not written by torch.save in its default form",
        "the file is from a source that you trust: torch.load(F, weights_only=False), or pickle.load; write it anew with torch.save(state_dict)",
        seen=r"operand (?:149|148|140|150|147)\b|protocol|joblib",
    ),
    Cause(
        "It is of another format with that ending: safetensors, GGUF, TorchScript, Keras, an archive",
        "file FILE; head -c 16 FILE",
        "safetensors.torch.load_file, torch.jit.load, or the loader of that format",
        seen=r"\.safetensors\b|\.gguf\b|TorchScript|RecursiveScriptModule",
    ),
)

FILE_NOT_OPENED = (
    Cause(
        "The file is not there: a name in a shared cache points to a file that was deleted, moved or never fetched, or another process removes it meanwhile",
        "ls -lL FILE says `No such file`; several processes fill one cache at once",
        "delete the model's folder in the cache and fetch it once before the processes start (hf download NAME), HF_HOME on a disk that stays; the right path",
        seen=r"No such file|\.cache|snapshots",
    ),
    Cause(
        "The disk does not do memory mapping (some network, FUSE, Ceph and 9p mounts), or FILE is a folder",
        "os error 19 (No such device); a copy on a local disk loads",
        "copy the model to a local disk; mergerfs: cache.files=partial; give the file, not its folder; read it without mapping: safetensors.torch.load(open(F, 'rb').read()), ComfyUI --disable-mmap",
        seen=r"os error 19|No such device|/mnt/|/nfs|\bfuse",
    ),
)
