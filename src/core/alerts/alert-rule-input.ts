import { z } from 'zod'
import { field } from '../field.ts'
import { type Parsed, parseBySchema } from '../problem.ts'
import { type AlertKind, alertKinds, ruleKinds } from './alert-kinds.ts'

const dayMs = 86_400_000

const nameAdvice = 'must be 1 to 63 lower-case letters, digits, dots, hyphens or underscores'
const channelAdvice = 'must be 1 to 40 lower-case letters, digits or hyphens'
const channelName = z
  .string({ error: channelAdvice })
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, { error: channelAdvice })

/** The schema of each setting of a rule. */
export const alertRuleFields = {
  name: z.string({ error: nameAdvice }).regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, { error: nameAdvice }),
  kind: field.oneOf(...(ruleKinds as [AlertKind, ...AlertKind[]])).meta({ description: 'What it watches.' }),
  severity: field
    .oneOf('warning', 'critical')
    .default('warning')
    .meta({ description: 'How urgent its alerts are.' }),
  threshold: field.numberBetween(0, 1e12).meta({ description: 'It fires above this.' }),
  holdMs: field
    .wholeNumber(0, 7 * dayMs)
    .default(60_000)
    .meta({ description: 'How long it must hold before it fires.' }),
  remindMs: field
    .wholeNumber(60_000, 365 * dayMs)
    .default(4 * 3_600_000)
    .meta({ description: 'The time between two reminders of what still fires.' }),
  clearMs: field
    .wholeNumber(0, 7 * dayMs)
    .default(300_000)
    .meta({ description: 'How long it must be clear before it is over.' }),
  quietMs: field
    .wholeNumber(0, dayMs)
    .default(60_000)
    .meta({ description: 'At least so long between two notices of the rule.' }),
  endpoint: field.text(63).nullable().default(null).meta({ description: 'Only this endpoint.' }),
  tag: field.text(64).nullable().default(null).meta({ description: 'Only endpoints with this tag.' }),
  channels: z
    .array(channelName, { error: 'must be a list of channels' })
    .max(20, { error: 'must have at most 20 channels' })
    .nullable()
    .default(null)
    .meta({ description: 'Where its notices go; null: to all channels.' }),
  enabled: field.flag().default(true).meta({ description: 'Whether it is evaluated.' }),
}

const alertRuleInput = z.strictObject(alertRuleFields).superRefine((rule, context) => {
  if (rule.endpoint !== null && rule.tag !== null) {
    context.addIssue({ code: 'custom', path: ['tag'], message: "can't be given together with an endpoint" })
  }
  if (!alertKinds[rule.kind].isScoped && (rule.endpoint !== null || rule.tag !== null)) {
    const path = [rule.endpoint === null ? 'tag' : 'endpoint']
    context.addIssue({ code: 'custom', path, message: `means nothing to rules of the kind ${rule.kind}` })
  }
  if (alertKinds[rule.kind].unit === 'share' && rule.threshold > 1) {
    context.addIssue({ code: 'custom', path: ['threshold'], message: 'must be a share from 0 to 1' })
  }
})

export type AlertRuleInput = z.input<typeof alertRuleInput>
export type AlertRuleSettings = z.output<typeof alertRuleInput>

export function parseAlertRule(input: unknown): Parsed<AlertRuleSettings> {
  return parseBySchema(alertRuleInput, input)
}

const addressAdvice = 'must be an e-mail address'
const address = z.email({ error: addressAdvice }).max(320, { error: addressAdvice })

const httpSettings = {
  url: field.text(2048),
  headers: z.record(z.string(), z.string(), { error: 'must be an object of texts' }).optional(),
  secretPath: field.flag().optional(),
}

export const alertChannelInput = z.discriminatedUnion(
  'kind',
  [
    // Signed like the messages of an endpoint; other fields of an endpoint's `config` are accepted here too.
    z.strictObject({
      name: channelName,
      kind: z.literal('webhook'),
      ...httpSettings,
      signing: z.looseObject({}).optional(),
      auth: z.looseObject({}).optional(),
    }),
    // The path of a Slack URL is a secret.
    z.strictObject({
      name: channelName,
      kind: z.literal('slack'),
      ...httpSettings,
      secretPath: field.flag().default(true),
    }),
    z.strictObject({
      name: channelName,
      kind: z.literal('email'),
      to: z.array(address, { error: 'must be a list of e-mail addresses' }).min(1).max(20),
      from: address.optional(),
    }),
    z.strictObject({ name: channelName, kind: z.literal('log') }),
  ],
  { error: 'must be one of webhook, slack, email, log' },
)

export type AlertChannelInput = z.input<typeof alertChannelInput>

export function parseAlertChannel(input: unknown): Parsed<z.output<typeof alertChannelInput>> {
  return parseBySchema(alertChannelInput, input)
}
