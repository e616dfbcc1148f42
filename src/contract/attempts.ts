import { z } from 'zod'
import { jsonObject, timestamp } from './shapes.ts'

export const outcomes = [
  'success',
  'retryable',
  'permanent',
  'gone',
  'throttled',
  'interrupted',
  'expired',
  'cancelled',
  'dropped',
  'skipped',
] as const

export const criticality = z.enum(['best_effort', 'standard', 'critical'])

export const attemptShape = z
  .object({
    deliveryId: z.string().nullable(),
    attempt: z.int(),
    startedAt: timestamp,
    durationMs: z.int().nullable(),
    outcome: z.enum(outcomes),
    statusCode: z.int().nullable(),
    isProbe: z.boolean(),
    errorCode: z.string().nullable(),
    error: z.string().nullable(),
    detail: jsonObject.nullable().meta({
      description:
        'The rendered request (truncated, secrets redacted), the response and the timings, as far as they were stored.',
    }),
  })
  .meta({ id: 'Attempt' })
