import { renderNotice } from '../core/alerts/alert-notice.ts'
import { type AlertChannelInput, parseAlertChannel } from '../core/alerts/alert-rule-input.ts'
import { formatId } from '../core/delivery/ids.ts'
import type { EndpointInput } from '../core/endpoints/endpoint-types.ts'
import { HoldfastError } from '../core/errors.ts'
import {
  type AlertChannelRecord,
  deleteAlertChannel,
  insertAlertChannel,
  listAlertChannels,
  sendNotice,
  setAlertChannelEnabled,
} from '../storage/alert-channels.ts'
import { writeAudit } from '../storage/audit-log.ts'
import type { Database } from '../storage/database.ts'
import { invalidAlert } from './alert-rules.ts'
import type { Endpoint, Endpoints } from './endpoints.ts'
import { onDatabase } from './page.ts'

export type { AlertChannelInput } from '../core/alerts/alert-rule-input.ts'

export type AlertChannel = AlertChannelRecord

export interface AlertChannelsOptions {
  readonly database: () => Database
  readonly actor: string
  readonly endpoints: Endpoints
}

/**
 * Where alerts are told. A channel is an endpoint of its own (`alerts.<name>`): its notices are messages with retries, a circuit and a
 * history, and what signs and guards other messages signs and guards these.
 */
export class AlertChannels {
  readonly #options: AlertChannelsOptions

  constructor(options: AlertChannelsOptions) {
    this.#options = options
  }

  async list(): Promise<AlertChannel[]> {
    return onDatabase(this.#options.database(), listAlertChannels)
  }

  /** Returns the channel and its endpoint, which shows a generated signing secret this once. */
  async create(input: AlertChannelInput): Promise<{ channel: AlertChannel; endpoint: Endpoint | null }> {
    const parsed = parseAlertChannel(input)
    if (!parsed.ok) throw invalidAlert('channel', parsed.problems)
    const { name, kind, ...settings } = parsed.value
    if ((await this.list()).some((channel) => channel.name === name)) throw exists(name)
    const endpointName = kind === 'log' ? null : `alerts.${name}`
    const endpoint =
      endpointName === null
        ? null
        : await this.#options.endpoints.create({
            name: endpointName,
            transport: kind === 'email' ? 'smtp' : 'http',
            tags: ['holdfast-alerts'],
            preset: 'must-deliver',
            config: settings,
          } as EndpointInput)
    const channel = await onDatabase(this.#options.database(), (database) =>
      insertAlertChannel(database, { name, kind, endpoint: endpointName }, this.#options.actor),
    )
    if (channel === undefined) throw exists(name)
    return { channel, endpoint }
  }

  async enable(name: string): Promise<AlertChannel> {
    return this.#setEnabled(name, true)
  }

  async disable(name: string): Promise<AlertChannel> {
    return this.#setEnabled(name, false)
  }

  /** Its endpoint goes with it; notices that wait there are cancelled. */
  async delete(name: string): Promise<void> {
    const deleted = await onDatabase(this.#options.database(), (database) =>
      deleteAlertChannel(database, name, this.#options.actor),
    )
    if (deleted === undefined) throw notFound(name)
    const { endpoint } = deleted
    if (endpoint === null) return
    try {
      await this.#options.database().attempt(() => this.#options.endpoints.delete(endpoint, { force: true }))
    } catch (error) {
      // Somebody has deleted it before.
      if (!(error instanceof HoldfastError && error.code === 'endpoint_not_found')) throw error
    }
  }

  /** Sends a notice that says that it is a test. Returns the message that carries it; null: it goes to the log of the leading node. */
  async test(name: string): Promise<{ messageId: string | null }> {
    const channel = (await this.list()).find((each) => each.name === name)
    if (channel === undefined) throw notFound(name)
    if (channel.kind === 'log') return { messageId: null }
    const { title, text, payloads } = renderNotice(
      {
        kind: 'firing',
        rule: 'test',
        alertKind: 'test',
        severity: 'warning',
        incidents: [
          { subject: 'this is a test, nothing has happened', value: 0, threshold: 0, sinceMs: Date.now() },
        ],
      },
      'docs/runbook.md',
    )
    const payload = payloads[channel.kind]
    const message = await onDatabase(this.#options.database(), (database) =>
      database.asOne(async (transaction) => {
        const { actor } = this.#options
        await writeAudit(transaction, {
          actor,
          action: 'alert_channel.tested',
          subject: `alert-channel:${name}`,
        })
        return transaction.inTransaction((client) =>
          sendNotice(client, { channel: name, title, text, payload }),
        )
      }),
    )
    if (message === null) {
      throw new HoldfastError(
        'alert_not_sent',
        `The channel "${name}" did not take the notice. Is it enabled, and is its endpoint "${channel.endpoint}" still there?`,
        { channel: name },
      )
    }
    return { messageId: formatId('msg', message) }
  }

  async #setEnabled(name: string, isEnabled: boolean): Promise<AlertChannel> {
    const channel = await onDatabase(this.#options.database(), (database) =>
      setAlertChannelEnabled(database, name, isEnabled, this.#options.actor),
    )
    if (channel === undefined) throw notFound(name)
    return channel
  }
}

function exists(name: string): HoldfastError {
  return new HoldfastError('alert_channel_exists', `There is an alert channel named "${name}" already.`, {
    channel: name,
  })
}

function notFound(name: string): HoldfastError {
  return new HoldfastError('alert_not_found', `There is no alert channel named "${name}".`, { channel: name })
}
