import { z } from 'zod'
import { alertChannelInput, alertRuleFields } from '../core/alerts/alert-rule-input.ts'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { because, givenTime, listOf, pageQuery, timestamp, wholeListQuery } from './shapes.ts'

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
    runbook: z.string().meta({ description: 'Link to the instructions for this alert.' }),
  })
  .meta({ id: 'Alert' })

const ruleShape = z
  .object({
    name: z.string(),
    kind: z.string(),
    severity: z.enum(['warning', 'critical']),
    threshold: z.number(),
    holdMs: z.int().meta({ description: 'How long the condition must hold before the alert fires.' }),
    remindMs: z.int(),
    clearMs: z
      .int()
      .meta({ description: 'How long the condition must be clear before the alert is resolved.' }),
    quietMs: z.int().meta({ description: 'Minimum time between two notifications of this rule.' }),
    endpoint: z.string().nullable(),
    tag: z.string().nullable(),
    channels: z.array(z.string()).nullable().meta({ description: 'Null means all channels.' }),
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
  .meta({ examples: [{ note: 'I am looking into it.' }] })
const until = z
  .strictObject({
    until: givenTime.nullable().meta({ description: 'Null ends the silence.' }),
    note: field.text(2000).optional(),
  })
  .meta({ id: 'SilenceInput', examples: [{ until: '2030-01-01T09:00:00Z', note: 'Planned maintenance.' }] })

const { name: _, ...ruleSettings } = alertRuleFields

export const alertOperations = {
  list: defineOperation({
    id: 'listAlerts',
    method: 'GET',
    path: '/v1/alerts',
    tag,
    summary: 'List firing and resolved alerts, newest first',
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
    summary: 'Acknowledge an alert, which stops its reminders',
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
    summary: 'Withdraw an acknowledgement, which resumes the reminders',
    permission: 'operate',
    params: alertParams,
    errors: ['alert_not_found'],
  }),
  silence: defineOperation({
    id: 'silenceAlert',
    method: 'POST',
    path: '/v1/alerts/{id}/silence',
    tag,
    summary: 'Silence an alert until the given time',
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
    summary: 'List alert rules',
    permission: 'read',
    query: z.strictObject(wholeListQuery),
    result: listOf(ruleShape),
  }),
  getRule: defineOperation({
    id: 'getAlertRule',
    method: 'GET',
    path: '/v1/alert-rules/{name}',
    tag,
    summary: 'Get an alert rule',
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
    summary: 'Create or replace an alert rule',
    permission: 'configure',
    params: ruleParams,
    body: z.strictObject({ ...ruleSettings, ...because }).meta({
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
    summary: 'Delete an alert rule; its open alerts are resolved without a notification',
    permission: 'configure',
    params: ruleParams,
    query: z.strictObject(because),
    errors: ['alert_not_found'],
  }),
  silenceRule: defineOperation({
    id: 'silenceAlertRule',
    method: 'POST',
    path: '/v1/alert-rules/{name}/silence',
    tag,
    summary: 'Silence an alert rule until the given time',
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
    summary: 'List the channels that alerts are sent to',
    permission: 'read',
    query: z.strictObject(wholeListQuery),
    result: listOf(channelShape),
  }),
  createChannel: defineOperation({
    id: 'createAlertChannel',
    method: 'POST',
    path: '/v1/alert-channels',
    tag,
    summary: 'Create a channel that sends alerts to a webhook, Slack, e-mail or the log',
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
          .meta({ description: 'Returned only once: the secret with which receivers verify the signature.' }),
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
    summary: 'Send a test notification to a channel',
    permission: 'operate',
    params: channelParams,
    status: 202,
    result: z.object({ messageId: z.string().nullable() }),
    errors: ['alert_not_found', 'alert_not_sent'],
  }),
  enableChannel: switchChannel('enable', 'Resume sending alerts to a channel'),
  disableChannel: switchChannel('disable', 'Stop sending alerts to a channel'),
  deleteChannel: defineOperation({
    id: 'deleteAlertChannel',
    method: 'DELETE',
    path: '/v1/alert-channels/{name}',
    tag,
    summary: 'Delete a channel and its endpoint; its undelivered notifications are cancelled',
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
