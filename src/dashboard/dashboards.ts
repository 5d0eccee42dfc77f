import { assemble } from "./assemble.ts";
import { drift } from "./drift.ts";
import type { Dashboard } from "./model.ts";
import { overview } from "./overview.ts";
import { rootCauses } from "./root-causes.ts";
import { self } from "./self.ts";
import { tokens } from "./tokens.ts";

/** All dashboards, the one to begin with first. */
export const dashboards = (): Dashboard[] => [overview, tokens, rootCauses, drift, self].map(assemble);

/** A dashboard file: two spaces, a line break at the end. */
export const renderDashboard = (dashboard: Dashboard): string => `${JSON.stringify(dashboard, null, 2)}\n`;
