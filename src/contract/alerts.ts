import { z } from 'zod'
import { alertChannelInput, alertRuleFields } from '../core/alerts/alert-rule-input.ts'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { givenTime, listOf, pageQuery, timestamp } from './shapes.ts'

const tag = 'Alerts'

const named = (what: string, example: string) =>
  z.object({
    name: z
      .string()
      .max(100)
      .meta({ description: `The ${what}.`, examples: [example] }),
  })
const ruleParams = named('rule', 'dead-letters')
const channelParams = named('channel', 'on-call')
const alertParams = z.object({
  id: z
    .string()
    .max(64)
    .meta({ description: 'The alert.', examples: ['alt_0jm3x1c8000'] }),
})

const alertShape = z
  .object({
    id: z.string(),
    rule: z.string(),
    kind: z.string(),
    severity: z.enum(['warning', 'critical']),
    subject: z.string(),
    state: z.enum(['pending', 'firing', 'resolved']),
    value: z.number(),
    threshold: z.number(),
    since: timestamp,
    firedAt: timestamp.nullable(),
    clearSince: timestamp.nullable(),
    noticedAt: timestamp.nullable(),
    resolvedAt: timestamp.nullable(),
    acknowledgedAt: timestamp.nullable(),
    acknowledgedBy: z.string().nullable(),
    note: z.string().nullable(),
    silencedUntil: timestamp.nullable(),
    runbook: z.string().meta({ description: 'Where to read what to do.' }),
  })
  .meta({ id: 'Alert' })

const ruleShape = z
  .object({
    name: z.string(),
    kind: z.string(),
    severity: z.enum(['warning', 'critical']),
    threshold: z.number(),
    holdMs: z.int().meta({ description: 'How long it must hold before it fires.' }),
    remindMs: z.int(),
    clearMs: z.int().meta({ description: 'How long it must be clear before it is over.' }),
    quietMs: z.int().meta({ description: 'At least so long between two notices of the rule.' }),
    endpoint: z.string().nullable(),
    tag: z.string().nullable(),
    channels: z.array(z.string()).nullable().meta({ description: 'Null: all.' }),
    enabled: z.boolean(),
    silencedUntil: timestamp.nullable(),
    lastNoticeAt: timestamp.nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: 'AlertRule' })

const channelShape = z
  .object({
    name: z.string(),
    kind: z.enum(['webhook', 'slack', 'email', 'log']),
    endpoint: z.string().nullable(),
    enabled: z.boolean(),
    createdAt: timestamp,
  })
  .meta({ id: 'AlertChannel' })

const note = z
  .strictObject({ note: field.text(2000).optional() })
  .meta({ examples: [{ note: 'I am on it.' }] })
const until = z
  .strictObject({
    until: givenTime.nullable().meta({ description: 'Null ends the silence.' }),
    note: field.text(2000).optional(),
  })
  .meta({ id: 'SilenceInput', examples: [{ until: '2030-01-01T09:00:00Z', note: 'Planned work.' }] })

const { name: _, ...ruleSettings } = alertRuleFields

export const alertOperations = {
  list: defineOperation({
    id: 'listAlerts',
    method: 'GET',
    path: '/v1/alerts',
    tag,
    summary: 'What fires and what has been resolved, the newest first',
    permission: 'read',
    query: z.strictObject({ ...pageQuery, state: field.oneOf('pending', 'firing', 'resolved').optional() }),
    result: listOf(alertShape),
    errors: ['invalid_filter'],
  }),
  acknowledge: defineOperation({
    id: 'acknowledgeAlert',
    method: 'POST',
    path: '/v1/alerts/{id}/ack',
    tag,
    summary: 'Say that somebody looks after it: no more reminders',
    permission: 'operate',
    params: alertParams,
    body: note,
    isBodyOptional: true,
    errors: ['alert_not_found'],
  }),
  withdrawAcknowledgement: defineOperation({
    id: 'withdrawAcknowledgement',
    method: 'DELETE',
    path: '/v1/alerts/{id}/ack',
    tag,
    summary: 'Take an acknowledgement back: reminders go on',
    permission: 'operate',
    params: alertParams,
    errors: ['alert_not_found'],
  }),
  silence: defineOperation({
    id: 'silenceAlert',
    method: 'POST',
    path: '/v1/alerts/{id}/silence',
    tag,
    summary: 'Tell nothing of it until then',
    permission: 'operate',
    params: alertParams,
    body: until,
    errors: ['alert_not_found'],
  }),
  listRules: defineOperation({
    id: 'listAlertRules',
    method: 'GET',
    path: '/v1/alert-rules',
    tag,
    summary: 'What is worth waking somebody for',
    permission: 'read',
    result: z.object({ data: z.array(ruleShape) }),
  }),
  getRule: defineOperation({
    id: 'getAlertRule',
    method: 'GET',
    path: '/v1/alert-rules/{name}',
    tag,
    summary: 'Look at a rule',
    permission: 'read',
    params: ruleParams,
    result: ruleShape,
    errors: ['alert_not_found'],
  }),
  putRule: defineOperation({
    id: 'putAlertRule',
    method: 'PUT',
    path: '/v1/alert-rules/{name}',
    tag,
    summary: 'Create a rule, or replace it',
    permission: 'configure',
    params: ruleParams,
    body: z.strictObject(ruleSettings).meta({
      id: 'AlertRuleSettings',
      examples: [{ kind: 'dead_letters', threshold: 100, severity: 'critical' }],
    }),
    result: ruleShape,
    errors: ['invalid_alert'],
  }),
  deleteRule: defineOperation({
    id: 'deleteAlertRule',
    method: 'DELETE',
    path: '/v1/alert-rules/{name}',
    tag,
    summary: 'Delete a rule; what it had found ends without a word',
    permission: 'configure',
    params: ruleParams,
    errors: ['alert_not_found'],
  }),
  silenceRule: defineOperation({
    id: 'silenceAlertRule',
    method: 'POST',
    path: '/v1/alert-rules/{name}/silence',
    tag,
    summary: 'No notices of this rule until then',
    permission: 'operate',
    params: ruleParams,
    body: until,
    errors: ['alert_not_found'],
  }),
  listChannels: defineOperation({
    id: 'listAlertChannels',
    method: 'GET',
    path: '/v1/alert-channels',
    tag,
    summary: 'Where alerts are told',
    permission: 'read',
    result: z.object({ data: z.array(channelShape) }),
  }),
  createChannel: defineOperation({
    id: 'createAlertChannel',
    method: 'POST',
    path: '/v1/alert-channels',
    tag,
    summary: 'Tell alerts to a webhook, Slack, e-mail or the log',
    permission: 'configure',
    body: alertChannelInput.meta({
      id: 'AlertChannelInput',
      examples: [{ name: 'on-call', kind: 'webhook', url: 'https://on-call.example.com/hooks' }],
    }),
    status: 201,
    result: channelShape
      .extend({
        signingSecret: z
          .string()
          .optional()
          .meta({ description: 'Shown this once: what receivers verify with.' }),
      })
      .meta({ id: 'CreatedAlertChannel' }),
    errors: ['alert_channel_exists', 'invalid_alert', 'invalid_endpoint', 'endpoint_exists'],
    shownOnce: ['signingSecret'],
  }),
  testChannel: defineOperation({
    id: 'testAlertChannel',
    method: 'POST',
    path: '/v1/alert-channels/{name}/test',
    tag,
    summary: 'Send a notice that says that it is a test',
    permission: 'operate',
    params: channelParams,
    status: 202,
    result: z.object({ messageId: z.string().nullable() }),
    errors: ['alert_not_found', 'alert_not_sent'],
  }),
  enableChannel: switchChannel('enable', 'Tell alerts here again'),
  disableChannel: switchChannel('disable', 'Tell no alerts here'),
  deleteChannel: defineOperation({
    id: 'deleteAlertChannel',
    method: 'DELETE',
    path: '/v1/alert-channels/{name}',
    tag,
    summary: 'Delete a channel and its endpoint; notices that wait there are cancelled',
    permission: 'configure',
    params: channelParams,
    errors: ['alert_not_found'],
  }),
}

function switchChannel(action: 'enable' | 'disable', summary: string) {
  return defineOperation({
    id: `${action}AlertChannel`,
    method: 'POST',
    path: `/v1/alert-channels/{name}/${action}`,
    tag,
    summary,
    permission: 'configure',
    params: channelParams,
    result: channelShape,
    errors: ['alert_not_found'],
  })
}
