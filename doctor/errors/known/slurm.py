"""Slurm: what it refuses, and how it ends jobs."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import UNREAD, KnownError, thread

_SLURM = "slurm, src/common/slurm_errno.c of 284c3b95, 2026-08-20, read 2026-11-26"

_REASONS = (
    (
        "Invalid account or account/partition combination specified",
        "the account that is charged is not yours, or may not use that partition: sacctmgr show assoc user=$USER format=account,partition,qos lists yours; give one with -A",
    ),
    ("Invalid partition name specified", "there is no such partition: sinfo -s lists them; give one with -p"),
    (
        "No partition specified or system default partition",
        "this cluster has no default partition: sinfo -s lists them; give one with -p",
    ),
    (
        "Invalid qos specification",
        "the quality of service is none of yours: sacctmgr show assoc user=$USER format=account,qos lists yours; give one with --qos, or leave it out",
    ),
    ("User's group not permitted to use this partition", "that partition is for other groups: sinfo -s lists the rest"),
    ("Requested nodes not in this partition", "the nodes that --nodelist names are in another partition"),
    (
        "Requested time limit is invalid",
        "--time is longer than the partition gives, or missing: sinfo -o '%P %l' lists the limits",
    ),
    (
        "Invalid generic resource",
        "GPUs have another name or number there: sinfo -o '%P %G' lists them (--gres=gpu:NAME:NUMBER)",
    ),
    ("Invalid GRES specification", "GPUs are asked for with and without their name in one request: take one form"),
    (
        "Insufficient GRES available in allocation",
        "the step asks for more GPUs than the job was given: ask sbatch for them, and srun for no more",
    ),
    ("Invalid feature specification", "no node has what --constraint names: sinfo -o '%P %f' lists the features"),
    (
        "Job violates accounting/QOS policy",
        "the account has reached a limit (jobs at once, GPUs, hours): sacctmgr show qos and squeue -u $USER show it; wait, or ask for less",
    ),
    (
        "Requested account has breached requested QOS usage threshold",
        "the account has used up its hours: take another account, or ask its owner",
    ),
    (
        "Access/permission denied",
        "you may not do that with this job, partition or reservation: it is another user's or group's",
    ),
    (
        "Access denied to requested reservation",
        "the reservation is for others: leave --reservation out, or ask to be added",
    ),
    ("Requested reservation is invalid", "there is no such reservation, or it is over: scontrol show reservation"),
    (
        "Requested nodes are busy",
        "a step asks for what another step of the job holds: srun --overlap, or end that step",
    ),
    (
        "Memory required by task is not available",
        "--mem or --mem-per-cpu is more than the node or the job has: sinfo -o '%P %m'; inside of a job leave it out or --mem=0",
    ),
    (
        "More processors requested than permitted",
        "srun asks for more tasks or cores than the job was given: --ntasks and --cpus-per-task of sbatch are the limit (since 22.05 srun does not inherit --cpus-per-task: set SRUN_CPUS_PER_TASK)",
    ),
    ("Job/step already completing or completed", "the job has ended meanwhile: sacct -j JOB says how"),
    ("Invalid job id specified", "there is no such job any more: squeue -u $USER, sacct"),
    ("Job dependency problem", "the job that --dependency names is unknown or has failed"),
    (
        "Node count specification invalid",
        "the number of nodes makes no sense, or is more than the partition gives at once: sinfo -o '%P %D', scontrol show partition (MaxNodes)",
    ),
    ("CPU count specification invalid", "tasks times cores do not fit the nodes: sinfo -o '%P %c'"),
    (
        "Unable to satisfy cpu bind request",
        "--cpu-bind names cores that the job does not have: leave it out, or scontrol show job -d JOB shows which it has",
    ),
    ("Required partition not available", "the partition is down or drained: sinfo -s"),
    (
        "Required node not available",
        "the node that was asked for is down, drained or reserved: sinfo -R says why; take another",
    ),
    ("Partition in DOWN state", "the partition is down: sinfo -s"),
    ("Job size specification needs to be provided", "this cluster wants --nodes or --ntasks"),
    (
        "Invalid job array specification",
        "the numbers behind --array are not in the form 0-9%4, or more than MaxArraySize: scontrol show config",
    ),
    (
        "Job cannot be submitted without the current working directory specified",
        "the folder is not readable there: submit from another, or --chdir",
    ),
    ("I/O error writing script/environment to file", "the controller's disk is full: tell the administrators"),
    (
        "Socket timed out on send/recv operation",
        "the controller is overloaded: wait and submit again (in a loop with sleep between)",
    ),
    ("Rate limit exceeded", "too many requests in a short time: wait between them, or use --array"),
    ("Job credential expired", "the clocks of the nodes differ, or the step waited too long: tell the administrators"),
    (
        "Invalid authentication credential",
        "munge's key or clock differs between this host and the controller: tell the administrators",
    ),
    (
        "Lua function execution failed",
        "the cluster's own submit script refused it; what it wants stands above this line",
    ),
    ("Unspecified error", "the cluster's own submit script refused it; what it wants stands above this line"),
)
"""Texts of Slurm, and what is to be done for each."""

ROWS = (
    KnownError(
        id="slurm-memory-not-named",
        pattern=r"memory limit must be provided|[Mm]emory (?:required|must be (?:specified|requested))[^\n]{0,40}(?:job|--mem)|(?:sbatch|srun|salloc): error: [^\n]{0,60}(?:must|have to) (?:specify|set|request|provide|give) [^\n]{0,30}mem",
        cause="This cluster takes no job that does not say how much memory it needs; what stands behind it (Invalid feature specification, submission failed) follows from that",
        remedy="Add --mem=32G (of a node) or --mem-per-cpu=4G, or --mem-per-gpu, to the #SBATCH lines or to what the program hands to Slurm (its resources or template); scontrol show config | grep -i mem and sinfo -o '%P %m' show what there is",
        command="sinfo -o '%P %m %c'",
        says=(
            "sbatch: error: memory limit must be provided for shared jobs\nsbatch: error: Batch job submission failed: Invalid feature specification",
        ),
        sources=(thread("scalableminds/webknossos-libs", 1237, "2025-01-21"),),
    ),
    KnownError(
        id="slurm-refused",
        pattern=rf"(?:(?:sbatch|srun|salloc|scancel|scontrol)(?:\.exe)?: (?:error|fatal): |Batch job submission failed: |Unable to allocate resources: )[^\n]{{0,120}}?(?P<term>{'|'.join(text for text, _ in _REASONS)})",
        cause="Slurm does not take the request: {meaning}",
        remedy="Correct the #SBATCH line or option that it speaks of; scontrol show partition PARTITION shows what that one takes, sbatch --test-only FILE asks without submitting. Nothing of the program has run yet",
        command="sinfo -o '%P %l %D %c %m %G %f'",
        terms=tuple((text.replace("'", ""), meaning) for text, meaning in _REASONS),
        says=(
            "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
            "sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification",
            "srun: error: Unable to create step for job 123: More processors requested than permitted",
        ),
        sources=(_SLURM,),
    ),
    KnownError(
        id="slurm-argument",
        pattern=r"(?:sbatch|srun|salloc)(?:\.exe)?: (?:error|fatal): (?:\"[^\"\n]{1,60}\" is not a valid|[Ii]nvalid (?:node count|directive|--?\w|argument|time limit|number of)|[Uu]nrecognized option|[Uu]nable to open file|This does not look like a batch script|Batch script (?:is empty|contains (?:DOS|binary))|Script arguments not permitted|Unable to parse)[^\n]{0,80}"
        r"|Parse error in file /etc/slurm/slurm\.conf|error parsing [^\n]{0,60}slurm\.conf",
        cause="An option or the script that Slurm was given is not in a form that it reads: an option of another scheduler (PBS's nodes=1:ppn=1 is --nodes=1 --ntasks-per-node=1), a script with line ends of Windows or without #! in its first line, a file that is not there; a parse error in slurm.conf is the cluster's own",
        remedy="Read the option that it names in sbatch --help; sed -i 's/\\r$//' FILE takes line ends of Windows off; the first line has to be #!/bin/bash, and #SBATCH lines stand above the first command. slurm.conf: tell the administrators",
        command="sbatch --test-only FILE",
        says=(
            'sbatch: error: "1:ppn=1" is not a valid node count',
            "sbatch: error: This does not look like a batch script. The first line must start with #! followed by the path to an interpreter.",
            "sbatch: error: Batch script contains DOS line breaks (\\r\\n)",
        ),
        sources=(
            thread("jmonlong/PopSV", 6, "2017-06-05"),
            thread("montefiore-institute/alan-cluster", 15, "2019-05-10"),
        ),
    ),
    KnownError(
        id="slurm-task-ended",
        pattern=r"(?:srun|slurmstepd): error: \S{1,60}: tasks? [\d,-]{1,40}: (?P<why>Killed|Out Of Memory|Exited with exit code \d{1,3}|Segmentation fault|Aborted|Bus error|Terminated)",
        cause="A task of the job ended ({why}), and Slurm ends the others with it; its own error stands in that task's output",
        remedy="Killed, Out Of Memory: more --mem or fewer workers (sacct -j JOB -o MaxRSS,ReqMem); exit code 1: the Python traceback of that task, 137: memory, 139 and Segmentation fault: a compiled part, 134 and Aborted: NCCL's watchdog or CUDA. srun --label writes each line's task before it, --output=log.%t keeps a file for each",
        command="sacct -j JOB -o JobID,State,ExitCode,MaxRSS,ReqMem",
        says=("srun: error: gpu042: task 3: Killed", "srun: error: gpu01: tasks 0-7: Exited with exit code 1"),
        sources=(UNREAD,),
        level="vague",
    ),
    KnownError(
        id="slurm-request",
        pattern=r"Requested node configuration is not available|(sbatch|srun|salloc): error: .{0,40}count per node can not be satisfied",
        cause="Slurm has no node with what the job asks for in that partition: more CPUs, GPUs or memory than one node has, or GPUs under another name",
        remedy="Compare --cpus-per-task, --mem and --gres with the nodes of the partition, and ask for less or another partition",
        command="sinfo -o '%P %c %m %G'",
        says=(
            "sbatch: error: CPU count per node can not be satisfied\nsbatch: error: Batch job submission failed: Requested node configuration is "
            "not available",
        ),
        sources=(thread("FNNDSC/pman", 200),),
    ),
    KnownError(
        id="slurm-time-limit",
        pattern=r"CANCELLED AT \S{1,30} DUE TO (?P<why>TIME LIMIT|PREEMPTION|NODE FAILURE|JOB REQUEUE)|STEP \S{1,20} ON \S{1,40} CANCELLED AT",
        cause="Slurm ended the job ({why})",
        remedy="For a time limit ask for more (--time) and save checkpoints; let Slurm warn the program (--signal=USR1@120, --requeue)",
        says=("slurmstepd: error: *** JOB 1234567 ON gpu042 CANCELLED AT 2025-01-02T03:04:05 DUE TO TIME LIMIT ***",),
        sources=(UNREAD,),
    ),
    KnownError(
        id="slurm-pmi",
        pattern=r"OMPI was not built with SLURM's PMI support|PMI2_Init failed to intialize",
        cause="srun started processes that load an Open MPI which does not speak to this Slurm",
        remedy="Start with srun --mpi=pmix where Slurm has it (srun --mpi=list), or with mpirun or torchrun; without MPI, take mpi4py out",
        command="srun --mpi=list",
        says=(
            'The application appears to have been direct launched using "srun",\nbut OMPI was not built with SLURM\'s PMI support and therefore '
            "cannot\nexecute.",
        ),
        sources=(thread("NVIDIA-NeMo/Speech", 10997, "2024-10-22"), thread("open-mpi/ompi", 10940)),
    ),
    KnownError(
        id="slurm-script-gone",
        pattern=r"slurmstepd: error: execve\(\): (?P<program>\S{1,160}): (No such file|Permission denied|Exec format error)|slurmstepd: error: couldn't chdir to|slurmstepd: error: (_get_?primary_group|task/cgroup)",
        cause="The node that Slurm chose could not start {program}: the file or folder is not there on that node (a file system that is not mounted there, a full or read-only /tmp or slurmd spool), it is not executable, or its first line names "
        "an interpreter that the node does not have",
        remedy="Ask for another node (sbatch --exclude=NODE) and tell the administrators of that one; see that script, environment and working folder lie on a file system that all nodes share, and that the script begins with #!/bin/bash",
        command="srun -w NODE ls -l SCRIPT",
        says=("slurmstepd: error: execve(): /tmp/slurmd/job2997814/slurm_script: No such file or directory",),
        sources=(
            thread("ArjunaCluster/ArjunaUsers", 21, "2021-08-31"),
            thread("ArjunaCluster/ArjunaUsers", 46),
        ),
        likely=True,
    ),
    KnownError(
        id="slurm-not-configured",
        pattern=r"s_p_parse_file: unable to (status|stat) file|Could not establish a configuration source|resolve_ctls_from_dns_srv|Unable to contact slurm controller|slurm_load_\w{1,30} error: Unable to contact|Munge (encode|decode) failed|auth_g_(pack|verify)[^\n]{0,60}(failed|error)|Protocol authentication error|Zero Bytes were transmitted",
        cause="This machine cannot speak with Slurm's controller: it is no login node of the cluster (or a container without slurm.conf and munge), the controller is down, or the key and clock of munge differ",
        remedy="Submit on a login node (scontrol ping says whether the controller answers). In a container mount /etc/slurm, /run/munge and Slurm's programs. Without a cluster run the script with bash, or use torchrun directly",
        command="scontrol ping",
        says=(
            "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\nsbatch: fatal: Could not establish a configuration source",
            "slurm_load_partitions error: Unable to contact slurm controller (connect failure)",
        ),
        sources=(thread("nico-bohlinger/one_policy_to_run_them_all", 5, "2024-10-29"),),
    ),
    KnownError(
        id="slurm-without-gpu",
        pattern=r"'NoDevFiles'|CUDA_VISIBLE_DEVICES=NoDevFiles",
        cause="Slurm gave the job no GPU, and says so by CUDA_VISIBLE_DEVICES=NoDevFiles",
        remedy="Ask for one: --gres=gpu:1 or --gpus=1, in a partition that has GPUs",
        checks=("cuda-visible-devices",),
        says=("ValueError: invalid literal for int() with base 10: 'NoDevFiles'",),
        sources=(thread("ray-project/ray", 6978, "2020-01-30"),),
    ),
    KnownError(
        id="slurm-job-container",
        pattern=r"container_[pg]_(?:join|create|delete|restore)\w{0,12}[: ]|job_container/tmpfs|\bInitScript\b[^\n]{0,40}fail",
        cause="Slurm keeps folders of its own (/tmp, /dev/shm) for each job on that node (job_container/tmpfs), and could not make or enter those of this job: its base folder is not there, full or was cleaned, the job had ended already, or slurmd was started anew while it ran",
        remedy="Start the job again on other nodes (--exclude=NODE) and tell the administrators the node and this line: they look at BasePath in job_container.conf (it has to be there on every node, local and writable for root), at the prolog, and whether slurmd was restarted; with srun inside a job also at a step that outlives its job",
        command="sbatch --exclude=NODE JOB.sh",
        says=("slurmstepd: error: container_p_join: open failed /scratch/119383/.active: No such file or directory",),
        sources=(thread("ArjunaCluster/ArjunaUsers", 123),),
        likely=True,
    ),
    KnownError(
        id="slurm-step-ended",
        pattern=r"srun: Job step aborted: Waiting up to|srun: Terminating (?:job step|StepId)|srun: Force Terminated|srun: Job \S{1,20} step creation temporarily disabled, retrying",
        cause="Slurm ended a step because one of its tasks failed or the job was cancelled; the reason stands above or below it",
        remedy="Look for the first line `error: NODE: task N:` and for that task's own output (srun --label, --output=log.%t), or for CANCELLED; sacct -j JOB -o JobID,State,ExitCode,Reason says which step ended how. --kill-on-bad-exit=0 lets the others go on. `step creation temporarily disabled`: the job's resources are taken by another step: srun --overlap, or --exact with each step's share",
        command="sacct -j JOB -o JobID,State,ExitCode,Reason",
        says=("srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",),
        sources=("slurm.schedmd.com, srun, by its name; no thread was read for it, 2026-11-26",),
        level="vague",
    ),
    KnownError(
        id="any-slurm",
        pattern=r"\b(?P<program>srun|sbatch|salloc|slurmstepd)(?:-[\w.-]{1,40})?: (error|fatal): (?!\S{1,60}: tasks? )[^\n]{4}",
        cause="Slurm itself ({program}) says what went wrong around the job, and why it refused or ended it if it did; the program's own output has no cause for it",
        remedy="scontrol show job JOB (while it runs) or sacct -j JOB -o State,ExitCode,MaxRSS,Reason (afterwards) say in what state it ended; compare what it asked for with sinfo -o '%P %l %c %m %G'. OUT_OF_MEMORY: --mem; TIMEOUT: --time; NODE_FAIL: another node; "
        "for options that are not known: sbatch --help of that cluster's release",
        command="sacct -j JOB -o State,ExitCode,MaxRSS,Reason",
        says=("srun: error: PMK_KVS_Barrier task launch failure, no PMK_KVS_Barrier",),
        sources=(
            "the wording as programs print it; no thread was read for it, 2026-11-26",
            "slurm.schedmd.com, sacct and scontrol, by their names, 2026-11-26",
        ),
        likely=True,
        general=True,
    ),
)
