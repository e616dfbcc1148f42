import type { Curve } from '../curve.ts'
import { backlog } from './backlog.ts'
import { endpoints } from './endpoints.ts'
import { nodes } from './nodes.ts'
import { payload } from './payload.ts'
import { tabs } from './tabs.ts'

export const curves: readonly Curve[] = [endpoints, nodes, backlog, payload, tabs]
