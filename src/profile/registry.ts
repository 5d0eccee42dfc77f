import type { Profile } from "./profile.ts";
import { uvicorn } from "./uvicorn/index.ts";

/** Every built-in profile, in the order of the documentation. */
export const PROFILES: readonly Profile[] = [uvicorn];
