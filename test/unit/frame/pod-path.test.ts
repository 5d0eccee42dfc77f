import { expect, test } from "vitest";
import { podLabels } from "../../../src/frame/pod-path.ts";

const POD = { namespace: "rag", pod: "rag-api-7d9c5b7f4-x2x9p", container: "api" };
const UID = "5a4b95fa-c018-4767-85c2-c4851c57cf34";
const HEX = "4f".repeat(32);

test.for([
  {
    name: "the kubelet's directory holds the restart count too",
    path: `/var/log/pods/rag_rag-api-7d9c5b7f4-x2x9p_${UID}/api/0.log`,
    labels: { ...POD, restart_count: "0" },
  },
  {
    name: "a rotated file belongs to the same container",
    path: `/var/log/pods/rag_rag-api-7d9c5b7f4-x2x9p_${UID}/api/12.log.20260302-170000`,
    labels: { ...POD, restart_count: "12" },
  },
  {
    name: "a compressed one too",
    path: `/var/log/pods/rag_rag-api-7d9c5b7f4-x2x9p_${UID}/api/1.log.20260302-170000.gz`,
    labels: { ...POD, restart_count: "1" },
  },
  {
    name: "the link names pod before namespace",
    path: `/var/log/containers/rag-api-7d9c5b7f4-x2x9p_rag_api-${HEX}.log`,
    labels: POD,
  },
  {
    name: "a container's name may have hyphens",
    path: `/host/containers/vllm-0_models_vllm-server-${HEX}.log`,
    labels: { namespace: "models", pod: "vllm-0", container: "vllm-server" },
  },
  {
    name: "a static pod's uid is a hash, its name has dots",
    path: "/var/log/pods/kube-system_etcd-node.example_0f3a9c/etcd/3.log",
    labels: { namespace: "kube-system", pod: "etcd-node.example", container: "etcd", restart_count: "3" },
  },
  { name: "a path that only looks like it has no labels", path: "/var/log/my_app_x/api/server.log", labels: undefined },
  { name: "an id of another length is none", path: "/var/log/containers/a_b_c-1234.log", labels: undefined },
  { name: "a plain log has no labels", path: "/var/log/vllm/vllm.log", labels: undefined },
])("podLabels: $name", ({ path, labels }) => {
  expect(podLabels(path)).toEqual(labels);
});
