"""The Windows Subsystem for Linux: how it fails to start, and what it remarks."""

from __future__ import annotations

from torchlift.doctor.errors.known_error import KnownError, thread

_WSL = "WSL, localization/strings/en-US/Resources.resw of 3e27a6a5, 2026-08-08, read 2026-11-26"

ROWS = (
    KnownError(
        id="wsl-does-not-start",
        pattern=r"(WslRegisterDistribution failed with error:?\s{0,4}|\bWsl/(?:[A-Za-z]\w{0,40}/){0,6}|[Ee]rror:? (?=0x8037010|0x800701bc|0x8004032d|0x80370114|0x80041002)|Error 2147942402 \()"
        r"(?P<term>0x80370102|0x80370109|0x800701bc|0x8004032d|0x80370114|0x80072746|0x8007023e|0x80040326|0xd000020c|0x[0-9a-f]{8}|WSL_E_\w{1,40}|E_\w{1,30}|HCS_E_\w{1,50}|ERROR_\w{1,50})",
        cause="WSL itself did not start ({term}): {meaning}; nothing of torch or CUDA has run yet",
        remedy="In PowerShell as administrator: wsl --update, then wsl --shutdown; wsl --status names what is missing. Enable 'Virtual Machine Platform' and 'Windows Subsystem for Linux' (wsl --install --no-distribution) and virtualization in the BIOS; see that Task "
        "Manager > Performance > CPU says that virtualization is enabled; then restart Windows. Before `wsl --unregister NAME`, which deletes everything in it: wsl --export NAME FILE.tar",
        command="wsl --update",
        terms=(
            (
                "0x80370102",
                "Windows has no working hypervisor (virtualization is off in the BIOS, or Virtual Machine Platform is not enabled)",
            ),
            (
                "HCS_E_HYPERV_NOT_INSTALLED",
                "Windows has no working hypervisor (virtualization is off in the BIOS, or Virtual Machine Platform is not enabled)",
            ),
            (
                "0x80370109",
                "the virtual machine did not answer in time (a defect of some Windows builds: install updates)",
            ),
            (
                "HCS_E_CONNECTION_TIMEOUT",
                "the virtual machine did not answer in time (a defect of some Windows builds: install updates)",
            ),
            ("0x80370114", "the feature Virtual Machine Platform is missing"),
            (
                "HCS_E_SERVICE_NOT_AVAILABLE",
                "the feature Virtual Machine Platform is missing, or its service was not started since (restart Windows)",
            ),
            ("0x800701bc", "WSL's Linux kernel is missing or too old"),
            ("0x8004032d", "a Windows feature that it needs is not enabled"),
            ("WSL_E_WSL_OPTIONAL_COMPONENT_REQUIRED", "a Windows feature that it needs is not enabled"),
            ("0x80040326", "WSL's Linux kernel is too old for this Windows"),
            (
                "0x800701b1",
                "a device that it was to pass on is gone: mostly the GPU's driver of Windows was changed while WSL ran, or a disk that .wslconfig or wsl --mount names (restart Windows; install NVIDIA's driver anew)",
            ),
            (
                "0x80070422",
                "a service of Windows that it needs is disabled (services.msc: WSL Service, Windows Update, Hyper-V Host Compute Service)",
            ),
            (
                "0x80070002",
                "a file is gone: the distribution's folder or disk (ext4.vhdx) was moved or deleted, or the terminal's entry points to a program that is no longer there (wsl -l -v lists what is registered)",
            ),
            ("0x80070003", "a path is gone: the distribution's disk (ext4.vhdx) was moved or its drive is not there"),
            ("ERROR_FILE_NOT_FOUND", "a file is gone: the distribution's disk (ext4.vhdx) was moved or deleted"),
            (
                "ERROR_PATH_NOT_FOUND",
                "a path is gone: the distribution's disk (ext4.vhdx) was moved or its drive is not there",
            ),
            (
                "ERROR_SHARING_VIOLATION",
                "another program holds its disk (a backup, an anti-virus program, another virtual machine): wsl --shutdown, then again",
            ),
            (
                "0x80070020",
                "another program holds its disk (a backup, an anti-virus program, another virtual machine): wsl --shutdown, then again",
            ),
            (
                "0x80070005",
                "Windows denied access: the disk's folder is another user's, compressed or encrypted, or a policy forbids it",
            ),
            (
                "E_ACCESSDENIED",
                "Windows denied access: the disk's folder is another user's, compressed or encrypted, or a policy forbids it",
            ),
            (
                "0xd0000022",
                "Windows denied access to it: an anti-virus program or a policy of the machine keeps the virtual machine from starting",
            ),
            (
                "0xd000020c",
                "the connection to its virtual machine was closed: wsl --shutdown, then again; if it stays, update WSL",
            ),
            (
                "0x80070032",
                "its disk lies where that is not supported: a compressed folder or a file system other than NTFS",
            ),
            ("0x8007000e", "there was not enough memory for the virtual machine (memory= in .wslconfig)"),
            ("0x800705aa", "there was not enough memory for the virtual machine (memory= in .wslconfig)"),
            ("0x80041002", "parts of Windows' management (WMI) are damaged or WSL's feature is half installed"),
            ("0x80072ee7", "the network or DNS does not lead to Microsoft's servers, from which it is fetched"),
            ("0x80072f78", "the network or a proxy keeps it from Microsoft's servers, from which it is fetched"),
            ("WININET_E_NAME_NOT_RESOLVED", "the network or DNS does not lead to the servers from which it is fetched"),
            (
                "WSL_E_DISTRO_NOT_FOUND",
                "there is no distribution of that name: wsl -l -v lists them, wsl --install -d Ubuntu gets one",
            ),
            (
                "WSL_E_DEFAULT_DISTRO_NOT_FOUND",
                "no distribution is installed or set as the default: wsl --install -d Ubuntu, or wsl --set-default NAME",
            ),
            (
                "E_INVALIDARG",
                "an argument or a line of .wslconfig or /etc/wsl.conf is wrong, or the installation is older than the command (wsl --update)",
            ),
            (
                "E_UNEXPECTED",
                "WSL's service failed in a way that it does not name: wsl --shutdown, then again; if it stays, wsl --update",
            ),
            (
                "E_FAIL",
                "WSL's service failed in a way that it does not name: wsl --shutdown, then again; if it stays, wsl --update",
            ),
        ),
        checks=("wsl-driver",),
        says=(
            "WslRegisterDistribution failed with error: 0x80370102",
            "Error code: Wsl/Service/CreateInstance/0xd000020c",
            "Error code: Wsl/0x80070422",
            "Error code: Wsl/Service/CreateInstance/CreateVm/ConfigureGpu/HCS/0x800701b1",
        ),
        sources=(
            thread("microsoft/WSL", 7068, "2022-11-18"),
            thread("microsoft/WSL", 11255, "2024-03-06"),
            thread("yuk7/wsldl", 59, "2020-04-19"),
            thread("microsoft/WSL", 5194, "2021-09-16"),
            thread("microsoft/WSL", 13495, "2025-09-18"),
            thread("microsoft/WSL", 12556, "2025-02-05"),
            thread("microsoft/WSL", 10948, "2023-12-23"),
            "learn.microsoft.com, WSL troubleshooting, and the names of Windows' error codes, from knowledge, 2026-11-26",
        ),
        likely=True,
    ),
    KnownError(
        id="wsl-said-so",
        pattern=r"WSL2? is unable to start since virtualization is not enabled|WSL1 is not supported with your current machine configuration|Please enable the Virtual Machine Platform Windows feature|The distribution failed to start because its virtual disk is corrupted|WSL installation appears to be corrupted|Nested virtualization is not supported on this machine|WSL 2 requires an update to its kernel component|Windows Subsystem for Linux has no installed distributions|Running WSL as local system is not supported",
        cause="WSL does not start or is not whole; the line itself names the part of Windows that is missing, and nothing of torch or CUDA has run yet",
        remedy="In PowerShell as administrator: wsl --install --no-distribution enables the features, wsl --update gets the kernel, then restart Windows; virtualization (SVM, VT-x) is enabled in the BIOS, on a virtual machine by its host. A corrupted disk: wsl --mount --vhd FILE --bare and e2fsck from another distribution, before anything is unregistered",
        command="wsl --status",
        says=(
            "WSL2 is unable to start since virtualization is not enabled on this machine.",
            "The distribution failed to start because its virtual disk is corrupted.",
        ),
        sources=(_WSL,),
    ),
    KnownError(
        id="wsl-configuration-remark",
        pattern=r"wsl: (?:Unknown key|Invalid (?:\w{1,20} )?(?:value|address|string|section|key|escaped)|Processing /etc/fstab|Failed to (?:configure network|mount|translate|start the systemd)|An error occurred mounting|Hyper-V firewall|DNS Tunneling|Mirrored networking|Nested virtualization|检测到|A localhost proxy configuration was detected|Sparse VHD)|Processing /etc/fstab with mount -a failed|A localhost proxy configuration was detected but not mirrored into WSL",
        cause="A remark of WSL at its start: a line of .wslconfig, /etc/wsl.conf or /etc/fstab that it does not take, a folder that is not mounted, or a proxy of Windows that it does not pass on. The shell starts nonetheless",
        remedy="Correct the line that it names (notepad $env:USERPROFILE\\.wslconfig), then wsl --shutdown. A proxy on localhost: networkingMode=mirrored under [wsl2], or export https_proxy=http://ADDRESS_OF_WINDOWS:PORT; it matters to pip and downloads only",
        command="wsl --shutdown",
        says=(
            "wsl: A localhost proxy configuration was detected but not mirrored into WSL. WSL in NAT mode does not support localhost proxies.",
        ),
        sources=(_WSL,),
        level="warning",
    ),
    KnownError(
        id="wsl-pinned-memory-remark",
        pattern=r"Using 'pin_memory=False' as WSL is detected",
        cause="A remark of vLLM: under WSL it does not pin memory, which is somewhat slower",
        remedy="Nothing has to be done; what stops the program stands elsewhere in the log",
        says=(
            "WARNING 11-07 17:49:19 utils.py:772] Using 'pin_memory=False' as WSL is detected. This may slow down the performance.",
        ),
        sources=(thread("vllm-project/vllm", 10116, "2024-11-07"),),
        level="warning",
    ),
    KnownError(
        id="wsl-interop",
        pattern=r"exec format error:? \S{0,200}\.exe|\.exe: cannot execute binary file: Exec format error|Exec format error[^\n]{0,40}'\S{0,100}\.exe'|binfmt_misc/WSLInterop: No such file",
        cause="WSL does not start programs of Windows: its entry in binfmt_misc is gone (systemd or another distribution removed it), or interop is off in /etc/wsl.conf. Torch and CUDA in WSL do not need it",
        remedy="wsl --shutdown in PowerShell, then start again. If it comes back, register it: sudo sh -c 'echo :WSLInterop:M::MZ::/init:PF > /usr/lib/binfmt.d/WSLInterop.conf' && sudo systemctl restart systemd-binfmt; see that /etc/wsl.conf has no enabled=false under [interop]",
        command="ls /proc/sys/fs/binfmt_misc/; cat /etc/wsl.conf",
        says=("zsh: exec format error: explorer.exe",),
        sources=(thread("microsoft/WSL", 9905, "2023-04-04"), thread("microsoft/WSL", 8952, "2023-04-21")),
    ),
    KnownError(
        id="wsl-container-without-gpu",
        pattern=r"WSL environment detected but no adapters were found",
        cause="Docker in WSL was told to use a GPU, and Windows offers none: WSL 1, no NVIDIA card, or a driver of Windows without WSL support",
        remedy="Update WSL and the NVIDIA driver of Windows, then start both anew; without an NVIDIA card take the GPU out of the compose file",
        command="wsl --update && wsl --shutdown",
        checks=("wsl-driver", "driver-missing"),
        says=(
            "nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown",
        ),
        sources=(
            thread("AbdBarho/stable-diffusion-webui-docker", 117, "2022-10-04"),
            thread("OpenBMB/UltraRAG", 12, "2025-02-08"),
        ),
    ),
    KnownError(
        id="wsl-symbolic-link",
        pattern=r"/usr/lib/wsl/lib/libcuda\.so\.1 is not a symbolic link",
        cause="ldconfig remarks on how WSL brings its driver; nothing fails for it",
        remedy="Nothing has to be done",
        checks=("wsl-driver",),
        says=("/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link",),
        sources=(thread("microsoft/WSL", 5663, "2025-01-14"), thread("microsoft/WSL", 11229, "2024-02-29")),
        level="warning",
    ),
)
