import { z } from 'zod'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { listOf, pageQuery, timestamp } from './shapes.ts'

const states = z.enum(['closed', 'open', 'half_open'])

const circuitChange = z
  .object({
    id: z.string(),
    at: timestamp,
    endpoint: z.string().nullable().meta({ description: 'Null if the endpoint has been deleted.' }),
    from: states,
    to: states,
    actor: z
      .string()
      .meta({ description: 'The node that observed the change, or the actor who reset the circuit.' }),
    probes: z.int().meta({ description: 'Number of failed probes until the next change.' }),
    lastProbeAt: timestamp.nullable(),
  })
  .meta({ id: 'CircuitChange' })

export const circuitChangeOperations = {
  list: defineOperation({
    id: 'listCircuitChanges',
    method: 'GET',
    path: '/v1/circuit-changes',
    tag: 'Endpoints',
    summary: 'List circuit changes (opened, closed), newest first',
    description: 'Kept for 90 days.',
    permission: 'read',
    query: z.strictObject({ ...pageQuery, endpoint: field.text(63).optional() }),
    result: listOf(circuitChange),
    errors: ['endpoint_not_found'],
  }),
}
