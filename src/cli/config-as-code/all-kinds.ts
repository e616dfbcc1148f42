import type { Kind } from './kind.ts'
import { alertRuleKind } from './kinds/alert-rules.ts'
import { endpointKind } from './kinds/endpoints.ts'
import { eventTypeKind } from './kinds/event-types.ts'
import { jobKind } from './kinds/jobs.ts'
import { routeKind } from './kinds/routes.ts'

/** In the order of creation; deletions use the reverse order. */
export const allKinds: readonly Kind[] = [eventTypeKind, endpointKind, routeKind, jobKind, alertRuleKind]
