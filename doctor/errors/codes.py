"""Every error code of CUDA, in all the ways in which programs print it."""

from __future__ import annotations

import re

_CODES = """
1|InvalidValue|INVALID_VALUE|invalid argument
2|MemoryAllocation|OUT_OF_MEMORY|out of memory
3|InitializationError|NOT_INITIALIZED|initialization error
4|CudartUnloading|DEINITIALIZED|driver shutting down
5|ProfilerDisabled|PROFILER_DISABLED|profiler disabled while using external profiling tool
6|ProfilerNotInitialized|PROFILER_NOT_INITIALIZED|profiler not initialized: call cudaProfilerInitialize()
7|ProfilerAlreadyStarted|PROFILER_ALREADY_STARTED|profiler already started
8|ProfilerAlreadyStopped|PROFILER_ALREADY_STOPPED|profiler already stopped
9|InvalidConfiguration|-|invalid configuration argument
12|InvalidPitchValue|-|invalid pitch argument
13|InvalidSymbol|-|invalid device symbol
16|InvalidHostPointer|-|invalid host pointer
17|InvalidDevicePointer|-|invalid device pointer
18|InvalidTexture|-|invalid texture reference
19|InvalidTextureBinding|-|texture is not bound to a pointer
20|InvalidChannelDescriptor|-|invalid channel descriptor
21|InvalidMemcpyDirection|-|invalid copy direction for memcpy
22|AddressOfConstant|-|invalid address of constant
23|TextureFetchFailed|-|fetch from texture failed
24|TextureNotBound|-|cannot fetch from a texture that is not bound
25|SynchronizationError|-|incorrect use of __syncthreads()
26|InvalidFilterSetting|-|linear filtering not supported for non-float type
27|InvalidNormSetting|-|read as normalized float not supported for data type
28|MixedDeviceExecution|-|device emulation mode and device execution mode cannot be mixed
31|NotYetImplemented|-|feature not yet implemented
32|MemoryValueTooLarge|-|memory size or pointer value too large to fit in 32 bit
34|StubLibrary|STUB_LIBRARY|CUDA driver is a stub library
35|InsufficientDriver|-|CUDA driver version is insufficient for CUDA runtime version
36|CallRequiresNewerDriver|CALL_REQUIRES_NEWER_DRIVER|API call is not supported in the installed CUDA driver
37|InvalidSurface|-|invalid surface reference
43|DuplicateVariableName|-|duplicate global variable looked up by string name
44|DuplicateTextureName|-|duplicate texture looked up by string name
45|DuplicateSurfaceName|-|duplicate surface looked up by string name
46|DevicesUnavailable|DEVICE_UNAVAILABLE|CUDA-capable device(s) is/are busy or unavailable
49|IncompatibleDriverContext|-|incompatible driver context
52|MissingConfiguration|-|__global__ function call is not configured
53|PriorLaunchFailure|-|unspecified launch failure in prior launch
65|LaunchMaxDepthExceeded|-|launch would exceed maximum depth of nested launches
66|LaunchFileScopedTex|-|launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)
67|LaunchFileScopedSurf|-|launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)
68|SyncDepthExceeded|-|cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth
69|LaunchPendingCountExceeded|-|launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount
98|InvalidDeviceFunction|-|invalid device function
100|NoDevice|NO_DEVICE|no CUDA-capable device is detected
101|InvalidDevice|INVALID_DEVICE|invalid device ordinal
102|DeviceNotLicensed|DEVICE_NOT_LICENSED|device doesn't have valid Grid license
103|SoftwareValidityNotEstablished|-|integrity checks failed
127|StartupFailure|-|startup failure in cuda runtime
200|InvalidKernelImage|INVALID_IMAGE|device kernel image is invalid
201|DeviceUninitialized|INVALID_CONTEXT|invalid device context
202|-|CONTEXT_ALREADY_CURRENT|-
205|MapBufferObjectFailed|MAP_FAILED|mapping of buffer object failed
206|UnmapBufferObjectFailed|UNMAP_FAILED|unmapping of buffer object failed
207|ArrayIsMapped|ARRAY_IS_MAPPED|array is mapped
208|AlreadyMapped|ALREADY_MAPPED|resource already mapped
209|NoKernelImageForDevice|NO_BINARY_FOR_GPU|no kernel image is available for execution on the device
210|AlreadyAcquired|ALREADY_ACQUIRED|resource already acquired
211|NotMapped|NOT_MAPPED|resource not mapped
212|NotMappedAsArray|NOT_MAPPED_AS_ARRAY|resource not mapped as array
213|NotMappedAsPointer|NOT_MAPPED_AS_POINTER|resource not mapped as pointer
214|ECCUncorrectable|ECC_UNCORRECTABLE|uncorrectable ECC error encountered
215|UnsupportedLimit|UNSUPPORTED_LIMIT|limit is not supported on this architecture
216|DeviceAlreadyInUse|CONTEXT_ALREADY_IN_USE|exclusive-thread device already in use by a different thread
217|PeerAccessUnsupported|PEER_ACCESS_UNSUPPORTED|peer access is not supported between these two devices
218|InvalidPtx|INVALID_PTX|a PTX JIT compilation failed
219|InvalidGraphicsContext|INVALID_GRAPHICS_CONTEXT|invalid OpenGL or DirectX context
220|NvlinkUncorrectable|NVLINK_UNCORRECTABLE|uncorrectable NVLink error detected during the execution
221|JitCompilerNotFound|JIT_COMPILER_NOT_FOUND|PTX JIT compiler library not found
222|UnsupportedPtxVersion|UNSUPPORTED_PTX_VERSION|the provided PTX was compiled with an unsupported toolchain
223|JitCompilationDisabled|JIT_COMPILATION_DISABLED|PTX JIT compilation was disabled
224|UnsupportedExecAffinity|UNSUPPORTED_EXEC_AFFINITY|the provided execution affinity is not supported
225|UnsupportedDevSideSync|UNSUPPORTED_DEVSIDE_SYNC|the provided PTX contains unsupported call to cudaDeviceSynchronize
226|Contained|CONTAINED|Invalid access of peer GPU memory over nvlink or a hardware error
300|InvalidSource|INVALID_SOURCE|device kernel image is invalid
301|FileNotFound|FILE_NOT_FOUND|file not found
302|SharedObjectSymbolNotFound|SHARED_OBJECT_SYMBOL_NOT_FOUND|shared object symbol not found
303|SharedObjectInitFailed|SHARED_OBJECT_INIT_FAILED|shared object initialization failed
304|OperatingSystem|OPERATING_SYSTEM|OS call failed or operation not supported on this OS
400|InvalidResourceHandle|INVALID_HANDLE|invalid resource handle
401|IllegalState|ILLEGAL_STATE|the operation cannot be performed in the present state
402|LossyQuery|LOSSY_QUERY|attempted introspection would be semantically lossy
500|SymbolNotFound|NOT_FOUND|named symbol not found
600|NotReady|NOT_READY|device not ready
700|IllegalAddress|ILLEGAL_ADDRESS|an illegal memory access was encountered
701|LaunchOutOfResources|LAUNCH_OUT_OF_RESOURCES|too many resources requested for launch
702|LaunchTimeout|LAUNCH_TIMEOUT|the launch timed out and was terminated
703|LaunchIncompatibleTexturing|LAUNCH_INCOMPATIBLE_TEXTURING|launch uses incompatible texturing mode
704|PeerAccessAlreadyEnabled|PEER_ACCESS_ALREADY_ENABLED|peer access is already enabled
705|PeerAccessNotEnabled|PEER_ACCESS_NOT_ENABLED|peer access has not been enabled
708|SetOnActiveProcess|PRIMARY_CONTEXT_ACTIVE|cannot set while device is active in this process
709|ContextIsDestroyed|CONTEXT_IS_DESTROYED|context is destroyed
710|Assert|ASSERT|device-side assert triggered
711|TooManyPeers|TOO_MANY_PEERS|peer mapping resources exhausted
712|HostMemoryAlreadyRegistered|HOST_MEMORY_ALREADY_REGISTERED|part or all of the requested memory range is already mapped
713|HostMemoryNotRegistered|HOST_MEMORY_NOT_REGISTERED|pointer does not correspond to a registered memory region
714|HardwareStackError|HARDWARE_STACK_ERROR|hardware stack error
715|IllegalInstruction|ILLEGAL_INSTRUCTION|an illegal instruction was encountered
716|MisalignedAddress|MISALIGNED_ADDRESS|misaligned address
717|InvalidAddressSpace|INVALID_ADDRESS_SPACE|operation not supported on global/shared address space
718|InvalidPc|INVALID_PC|invalid program counter
719|LaunchFailure|LAUNCH_FAILED|unspecified launch failure
720|CooperativeLaunchTooLarge|COOPERATIVE_LAUNCH_TOO_LARGE|too many blocks in cooperative launch
721|TensorMemoryLeak|TENSOR_MEMORY_LEAK|tensor memory not completely freed
800|NotPermitted|NOT_PERMITTED|operation not permitted
801|NotSupported|NOT_SUPPORTED|operation not supported
802|SystemNotReady|SYSTEM_NOT_READY|system not yet initialized
803|SystemDriverMismatch|SYSTEM_DRIVER_MISMATCH|system has unsupported display driver / cuda driver combination
804|CompatNotSupportedOnDevice|COMPAT_NOT_SUPPORTED_ON_DEVICE|forward compatibility was attempted on non supported HW
805|MpsConnectionFailed|MPS_CONNECTION_FAILED|MPS client failed to connect to the MPS control daemon or the MPS server
806|MpsRpcFailure|MPS_RPC_FAILURE|the remote procedural call between the MPS server and the MPS client failed
807|MpsServerNotReady|MPS_SERVER_NOT_READY|MPS server is not ready to accept new MPS client requests
808|MpsMaxClientsReached|MPS_MAX_CLIENTS_REACHED|the hardware resources required to create MPS client have been exhausted
809|MpsMaxConnectionsReached|MPS_MAX_CONNECTIONS_REACHED|the hardware resources required to support device connections have been exhausted
810|MpsClientTerminated|MPS_CLIENT_TERMINATED|the MPS client has been terminated by the server
811|CdpNotSupported|CDP_NOT_SUPPORTED|is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it
812|CdpVersionMismatch|CDP_VERSION_MISMATCH|unsupported interaction between different versions of CUDA Dynamic Parallelism
900|StreamCaptureUnsupported|STREAM_CAPTURE_UNSUPPORTED|operation not permitted when stream is capturing
901|StreamCaptureInvalidated|STREAM_CAPTURE_INVALIDATED|operation failed due to a previous error during capture
902|StreamCaptureMerge|STREAM_CAPTURE_MERGE|operation would result in a merge of separate capture sequences
903|StreamCaptureUnmatched|STREAM_CAPTURE_UNMATCHED|capture was not ended in the same stream as it began
904|StreamCaptureUnjoined|STREAM_CAPTURE_UNJOINED|capturing stream has unjoined work
905|StreamCaptureIsolation|STREAM_CAPTURE_ISOLATION|dependency created on uncaptured work in another stream
906|StreamCaptureImplicit|STREAM_CAPTURE_IMPLICIT|operation would make the legacy stream depend on a capturing blocking stream
907|CapturedEvent|CAPTURED_EVENT|operation not permitted on an event last recorded in a capturing stream
908|StreamCaptureWrongThread|STREAM_CAPTURE_WRONG_THREAD|attempt to terminate a thread-local capture sequence from another thread
909|Timeout|TIMEOUT|wait operation timed out
910|GraphExecUpdateFailure|GRAPH_EXEC_UPDATE_FAILURE|the graph update was not performed because it included changes which violated constraints specific to instantiated graph update
911|ExternalDevice|EXTERNAL_DEVICE|an async error has occured in external entity outside of CUDA
912|InvalidClusterSize|INVALID_CLUSTER_SIZE|a kernel launch error has occurred due to cluster misconfiguration
913|FunctionNotLoaded|FUNCTION_NOT_LOADED|the function handle is not loaded when calling an API that requires a loaded function
914|InvalidResourceType|INVALID_RESOURCE_TYPE|one or more resources passed in are not valid resource types for the operation
915|InvalidResourceConfiguration|INVALID_RESOURCE_CONFIGURATION|one or more resources are insufficient or non-applicable for the operation
916|-|KEY_ROTATION|-
999|Unknown|UNKNOWN|unknown error
"""
"""Number, name behind `cudaError` and `hipError`, name behind `CUDA_ERROR_`, text; "-" where there is none.

CUDA 13.0: driver_types.h, cuda.h, and what its libcudart answers to cudaGetErrorString, read 2026-11-23. The texts of HIP are the same
(ROCm/clr, hipamd/src/hip_error.cpp, read 2026-11-23).
"""

_PRINTED = {int(number): rest for number, *rest in (line.split("|") for line in _CODES.split("\n") if line)}
_BEFORE_A_TEXT = r"\b(?:CUDA|Cuda|cuda|HIP|hip|THCudaCheck)[^\n]{0,80}?\b"
_WORDS_THAT_NO_OTHER_PROGRAM_SAYS = 4


def cuda_codes(*numbers: int) -> str:
    """Alternatives of a pattern, with a bar in front: names, texts and numbers of these errors as torch, NCCL, Triton and others print them."""
    found: list[str] = []
    short: list[str] = []  # these need the name of CUDA before them
    for number in numbers:
        runtime, driver, text = _PRINTED[number]
        found += [rf"cudaError{runtime}\b", rf"hipError{runtime}\b"] if runtime != "-" else []
        found += [rf"CUDA_ERROR_{driver}\b"] if driver != "-" else []
        if text != "-":
            words = re.escape(text).replace("\\ ", " ")
            (found if len(text.split()) >= _WORDS_THAT_NO_OTHER_PROGRAM_SAYS else short).append(words)
    found += [f"{_BEFORE_A_TEXT}(?:{'|'.join(short)})"] if short else []
    any_number = "|".join(map(str, numbers))
    found += [
        rf"[Cc]uda runtime error \((?:{any_number})\)",
        rf"THCudaCheck FAIL [^\n]{{0,160}} error=(?:{any_number}) :",
        rf"CUDA failure (?:{any_number})\b(?!\.)",
        rf"Cuda failure (?:{any_number})\b(?!\.)",
        rf"Return value (?:{any_number}) from 'cuda",
        rf"\b(?:CUDA|Cuda|cuda) error:? \(?(?:{any_number})\b(?![.%])",
    ]
    return "|" + "|".join(found)
