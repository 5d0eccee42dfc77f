/** Labels that the path of a container's log holds. Keys as metric labels write them; absent = the path does not say. */
export interface PodLabels {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Decimal; in paths below `/var/log/pods` only. */
  readonly restart_count?: string;
}

/** `<ns>_<pod>_<uid>/<container>/<n>.log`, and what the kubelet makes of the name at rotation: `.20260302-170000`, `.gz`. */
const PODS = /(?:^|\/)([a-z0-9.-]+)_([a-z0-9.-]+)_[^/_]+\/([^/]+)\/(\d+)\.log(?:\.[\d-]+)?(?:\.gz)?$/;
const CONTAINERS = /(?:^|\/)([a-z0-9.-]+)_([a-z0-9.-]+)_(.+)-[0-9a-f]{64}\.log$/;

/**
 * Reads `/var/log/pods/<ns>_<pod>_<uid>/<container>/<restarts>.log` and the link to it,
 * `/var/log/containers/<pod>_<ns>_<container>-<64 hex>.log`. Only the end of the path counts: the directory may be mounted
 * elsewhere. A static pod's uid is a hash, so its form is not asked for.
 *
 * @see kubernetes `pkg/kubelet/kuberuntime/helpers.go` (BuildPodLogsDirectory), `legacy.go` (legacyLogSymlink)
 */
export function podLabels(path: string): PodLabels | undefined {
  const inPods = PODS.exec(path);
  if (inPods !== null) {
    const [, namespace = "", pod = "", container = "", restart_count = ""] = inPods;
    return { namespace, pod, container, restart_count };
  }
  const inContainers = CONTAINERS.exec(path);
  if (inContainers === null) return undefined;
  const [, pod = "", namespace = "", container = ""] = inContainers;
  return { namespace, pod, container };
}
