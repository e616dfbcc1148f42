import { z } from 'zod'
import { defineOperation } from './define-operation.ts'

const tag = 'Overview'

const demo = z
  .object({
    isOffered: z.boolean().meta({ description: 'Whether this node can start the demo: `holdfast dev` can.' }),
    isRunning: z.boolean(),
  })
  .meta({ id: 'Demo' })

export const demoOperations = {
  get: defineOperation({
    id: 'getDemo',
    method: 'GET',
    path: '/v1/demo',
    tag,
    summary: 'Get whether this node offers the demo, and whether it is running',
    permission: 'read',
    result: demo,
  }),
  start: defineOperation({
    id: 'startDemo',
    method: 'POST',
    path: '/v1/demo/start',
    tag,
    summary: 'Start the demo: five endpoints with receivers in this process, two jobs, a few events a second',
    description: 'Receivers listen on loopback only. A demo that is already running continues.',
    permission: 'administer',
    result: demo,
    keepsResult: false,
    isRepeatable: true,
    errors: ['demo_not_offered'],
  }),
  stop: defineOperation({
    id: 'stopDemo',
    method: 'POST',
    path: '/v1/demo/stop',
    tag,
    summary: 'Stop the demo: its traffic ends and its endpoints are paused',
    permission: 'administer',
    result: demo,
    keepsResult: false,
    isRepeatable: true,
    errors: ['demo_not_offered'],
  }),
}
