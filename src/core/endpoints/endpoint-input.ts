import { z } from 'zod'
import { field, isStorable } from '../field.ts'
import { presetNames } from './presets.ts'
import { type SettingInputs, settingFields } from './setting-fields.ts'

export const endpointNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/

const nameAdvice =
  'must be 1 to 63 characters of a–z, 0–9, ".", "_" and "-", and begin with a letter or a digit'

export const endpointName = z.string({ error: nameAdvice }).regex(endpointNamePattern, { error: nameAdvice })

const statusAdvice = 'must have statuses like "409" or "4xx" as its keys'

/** Checks the fields that all transports share; the transport parses the rest. */
const config = z.looseObject({
  timeoutMs: field.wholeNumber(100, 300_000).optional(),
  classify: z
    .record(
      z.string({ error: statusAdvice }).regex(/^[1-5](?:\d\d|xx)$/, { error: statusAdvice }),
      field.oneOf('success', 'retryable', 'permanent', 'gone', 'throttled'),
      {
        error: (issue) =>
          issue.code === 'invalid_key' ? statusAdvice : 'must be an object of statuses to classes',
      },
    )
    .optional(),
})

const eventTypeAdvice = 'must be an event type of 1 to 255 characters without spaces, like "order.*"'

const settingInputs = Object.fromEntries(
  Object.entries(settingFields).map(([name, { schema }]) => [name, schema.optional()]),
) as { [Name in keyof SettingInputs]-?: z.ZodOptional<z.ZodType<SettingInputs[Name], SettingInputs[Name]>> }

/** An endpoint as given by a user: every field but the name has a default, and unknown fields are refused. */
export const endpointInput = z.strictObject({
  name: endpointName,
  transport: z
    .string({ error: 'must be the name of a transport, like "http"' })
    .regex(/^[a-z][a-z0-9-]{0,31}$/, { error: 'must be the name of a transport, like "http"' })
    .optional(),
  tenant: field.text(255).nullable().optional(),
  tags: z
    .array(field.text(64), { error: 'must be a list of tags' })
    .max(20, { error: 'must have at most 20 tags' })
    .optional(),
  contact: field.text(320).nullable().optional(),
  preset: z.enum(presetNames, { error: `must be one of ${presetNames.join(', ')}` }).optional(),
  eventTypes: z
    .array(
      z
        .string({ error: eventTypeAdvice })
        .regex(/^[^\s]{1,255}$/, { error: eventTypeAdvice })
        .refine(isStorable, { error: eventTypeAdvice }),
      {
        error: 'must be a list of event types, like ["order.*"]',
      },
    )
    .max(100, { error: 'must have at most 100 event types: use a pattern like "order.*"' })
    .optional(),
  config: config.optional(),
  ...settingInputs,
})
