import { z } from 'zod'
import { defineOperation } from './define-operation.ts'
import { jsonObject, listOf, pageQuery, timestamp } from './shapes.ts'

const tag = 'Quarantine'

const quarantinedResult = z
  .object({
    id: z.string(),
    at: timestamp,
    deliveryId: z.string().meta({ examples: ['dlv_0d5jmwbq4r1', 'run_0d5jmwbq4r1'] }),
    endpoint: z.string().nullable(),
    queue: z.string().nullable(),
    error: z.string().meta({ description: 'Why the database rejected it.' }),
    lastError: z.string().nullable().meta({ description: 'Why the last attempt to store it failed.' }),
    tries: z.int(),
    nextTryAt: timestamp,
    result: jsonObject.meta({ description: 'The result as reported by the node or worker.' }),
  })
  .meta({ id: 'QuarantinedResult' })

const params = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a number, as shown by the list')
    .meta({ examples: ['17'] }),
})

export const quarantineOperations = {
  list: defineOperation({
    id: 'listQuarantine',
    method: 'GET',
    path: '/v1/quarantine',
    tag,
    summary: 'List results that the database rejected, newest first',
    permission: 'read',
    query: z.strictObject({ ...pageQuery }),
    result: listOf(quarantinedResult),
  }),
  retry: defineOperation({
    id: 'retryQuarantined',
    method: 'POST',
    path: '/v1/quarantine/{id}/retry',
    tag,
    summary: 'Try to store a quarantined result now',
    permission: 'operate',
    params,
    result: z.object({ stored: z.boolean() }),
    errors: ['quarantined_result_not_found'],
  }),
  release: defineOperation({
    id: 'releaseQuarantined',
    method: 'DELETE',
    path: '/v1/quarantine/{id}',
    tag,
    summary: 'Discard a quarantined result; if its delivery is unfinished, it is sent again',
    permission: 'operate',
    params,
    status: 204,
    errors: ['quarantined_result_not_found'],
  }),
}
