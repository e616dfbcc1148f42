import { z } from 'zod'
import { defineOperation } from './define-operation.ts'

const tag = 'Overview'

const demo = z
  .object({
    isOffered: z.boolean().meta({ description: 'Whether this node can start it: `holdfast dev` does.' }),
    isRunning: z.boolean(),
  })
  .meta({ id: 'Demo' })

export const demoOperations = {
  get: defineOperation({
    id: 'getDemo',
    method: 'GET',
    path: '/v1/demo',
    tag,
    summary: 'Whether this node offers the demo, and whether it runs',
    permission: 'read',
    result: demo,
  }),
  start: defineOperation({
    id: 'startDemo',
    method: 'POST',
    path: '/v1/demo/start',
    tag,
    summary:
      'Start the demo: five endpoints with receivers in this process, three jobs, a few events a second',
    description: 'Receivers listen on loopback only. One that runs already goes on.',
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
    summary: 'Stop the demo: its traffic ends, and its endpoints are paused',
    permission: 'administer',
    result: demo,
    keepsResult: false,
    isRepeatable: true,
    errors: ['demo_not_offered'],
  }),
}
