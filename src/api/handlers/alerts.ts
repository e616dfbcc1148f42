import type { alertOperations } from '../../contract/alerts.ts'
import type { HandlersFor } from '../call.ts'
import { pageOfWhole } from '../whole-list.ts'

export const alertHandlers: HandlersFor<typeof alertOperations> = {
  list: async ({ query, management }) => management.alerts.list(query),
  acknowledge: async ({ params, body, management }) => {
    await management.alerts.acknowledge(params.id, noted(body.note))
  },
  withdrawAcknowledgement: async ({ params, management }) => {
    await management.alerts.withdrawAcknowledgement(params.id)
  },
  silence: async ({ params, body, management }) => {
    await management.alerts.silence(params.id, timeOf(body.until), noted(body.note))
  },
  listRules: async ({ query, management }) =>
    pageOfWhole('alert-rules', await management.alertRules.list(), query, ({ name }) => name),
  getRule: async ({ params, management }) => management.alertRules.get(params.name),
  putRule: async ({ params, body: { reason, ...settings }, management }) =>
    management.alertRules.put({ ...settings, name: params.name }, reason),
  deleteRule: async ({ params, query, management }) =>
    management.alertRules.delete(params.name, query.reason),
  silenceRule: async ({ params, body, management }) =>
    management.alertRules.silence(params.name, timeOf(body.until), body.note),
  listChannels: async ({ query, management }) =>
    pageOfWhole('alert-channels', await management.alertChannels.list(), query, ({ name }) => name),
  createChannel: async ({ body, management }) => {
    const { channel, endpoint } = await management.alertChannels.create(body)
    const signingSecret = (endpoint as { signingSecret?: string } | null)?.signingSecret
    return { ...channel, ...(signingSecret !== undefined && { signingSecret }) }
  },
  testChannel: async ({ params, management }) => management.alertChannels.test(params.name),
  enableChannel: async ({ params, management }) => management.alertChannels.enable(params.name),
  disableChannel: async ({ params, management }) => management.alertChannels.disable(params.name),
  deleteChannel: async ({ params, management }) => management.alertChannels.delete(params.name),
}

function timeOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

function noted(note: string | undefined): { note?: string } {
  return note === undefined ? {} : { note }
}
