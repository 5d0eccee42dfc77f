/**
 * Bare lines of a process that dies: ggml's backends and asserts, the C++ runtime, the Go runtime around a runner, the shell.
 *
 * @see ggml-org/llama.cpp ggml/src/ggml.c `ggml_abort`, ggml/src/ggml-cuda/ggml-cuda.cu `ggml_cuda_error`; Go runtime/panic.go
 */
export interface CrashStart {
  readonly cause: string | undefined;
}

const DEVICE_ERROR = /^(?:CUDA|ROCm|HIP|MUSA|SYCL|Vulkan|CANN) error: (.{0,200})/;
const ALLOCATION =
  /^(?:ggml_[\w]{1,60}: .{0,200}(?:out of memory|OutOfDeviceMemory|OutOfMemory)|ggml_vulkan: Device memory allocation of size \d+ failed)/;
const ABORT = /^[^\s:]{1,300}:\d{1,7}: (?:GGML_ASSERT\(|GGML_ABORT|fatal error)/;
const RUNTIME =
  /^(?:SIG[A-Z]{2,6}: |panic: |fatal error: |unexpected fault address |terminate called after throwing |Segmentation fault|Aborted \(core dumped\))/;

/** A line that begins a crash; undefined for any other. */
export function crashStart(text: string): CrashStart | undefined {
  const code = text.charCodeAt(0);
  if (code === 75 && text === "Killed") return { cause: "host_oom_killed" };
  const device = DEVICE_ERROR.exec(text);
  if (device !== null) return { cause: deviceCause(device[1] ?? "") };
  if (ALLOCATION.test(text)) return { cause: "gpu_oom" };
  return ABORT.test(text) || RUNTIME.test(text) ? { cause: "runner_crash" } : undefined;
}

function deviceCause(text: string): string | undefined {
  if (/out of memory/.test(text)) return "gpu_oom";
  return /illegal memory access|device-side assert|misaligned address|illegal instruction/.test(text)
    ? "cuda_kernel_fault"
    : undefined;
}

/** True for a line that, after a {@link crashStart}, goes on telling of the same crash. */
export function continuesCrash(text: string): boolean {
  const code = text.charCodeAt(0);
  if (Number.isNaN(code) || code === 9 || (code === 32 && text.charCodeAt(1) === 32)) return true;
  return CONTINUATION.test(text) || isGoFrame(text) || RUNTIME.test(text);
}

const CONTINUATION =
  /^(?:[^\s:]{1,300}:\d{1,7}: .{0,40}(?:error|ASSERT|ABORT)|goroutine \d|PC=0x|signal arrived |\[signal |\[New LWP |\[Thread |\[Inferior |#\d{1,3} |warning: |Using host libthread_db|created by |rax |r[a-z0-9]{1,3} {1,8}0x|[cdefgs]s {1,8}0x|rflags |fault |0x[0-9a-f]{4}|exit status \d|[^\s()]{1,300}\([^()\s]{0,300}\) ?\[0x|See: https:)/;

/** `runtime.cgocall(0x55d0c7, 0xc00050fb48)`: a function of a goroutine's stack. */
function isGoFrame(text: string): boolean {
  if (!text.endsWith(")")) return false;
  const open = text.indexOf("(");
  return open > 0 && text.lastIndexOf(".", open) > 0 && text.slice(0, open).indexOf(" ") < 0;
}

/** Names with which ggml and llama.cpp, as a library, begin their own lines. */
const LIBRARY =
  /^(?:ggml_|llama_|llm_|load_tensors:|load_backend:|load_hparams:|load_all_data:|load_imatrix|load: |print_info:|init_tokenizer:|clip_|mtmd_|system[_ ]info:|common_|set_abort_callback:|init_batch:|decode: |sched_reserve:|graph_reserve:|create_tensor:|create_memory:|alloc_tensor_range: |~llama_context|main: |init: |\.{3,}$|register_backend: | {2}Device \d|terminate called without an active exception|statistics )/;

/** Chatter of the library within a server's log: known, and without a figure of a request. */
export const isLibraryLine = (text: string): boolean => LIBRARY.test(text);
