/** Identity of a label set: 64-bit FNV-1a over the sorted labels, 16 hexadecimal digits. Same labels, same fingerprint. */
export function fingerprint(labels: Readonly<Record<string, string>>): string {
  let hash = 0xcbf29ce484222325n;
  const mix = (text: string): void => {
    for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & MASK;
    hash = ((hash ^ 255n) * 0x100000001b3n) & MASK;
  };
  for (const name of Object.keys(labels).sort()) {
    mix(name);
    mix(labels[name] ?? "");
  }
  return hash.toString(16).padStart(16, "0");
}

const MASK = 0xffffffffffffffffn;
