import { renderNotice } from '../core/alerts/alert-notice.ts'
import { type AlertChannelInput, parseAlertChannel } from '../core/alerts/alert-rule-input.ts'
import { formatId } from '../core/delivery/ids.ts'
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
import type { EndpointInput } from '../transports/endpoint-types.ts'
import { invalidAlert } from './alert-rules.ts'
import type { Endpoints } from './endpoints.ts'
import { onDatabase } from './page.ts'
import type { Endpoint } from './shown-endpoint.ts'

export type { AlertChannelInput } from '../core/alerts/alert-rule-input.ts'

export type AlertChannel = AlertChannelRecord

export interface AlertChannelsOptions {
  readonly database: () => Database
  readonly actor: string
  readonly endpoints: Endpoints
}

/**
 * The channels that alerts are sent to. A channel is an endpoint of its own (`alerts.<name>`): its notifications are messages with retries, a circuit and a
 * history, and are signed and guarded like all messages.
 */
export class AlertChannels {
  readonly #options: AlertChannelsOptions

  constructor(options: AlertChannelsOptions) {
    this.#options = options
  }

  async list(): Promise<AlertChannel[]> {
    return onDatabase(this.#options.database(), listAlertChannels)
  }

  /** Returns the channel and its endpoint. A generated signing secret is shown only here. */
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

  /** Also deletes its endpoint; pending notifications are cancelled. */
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
      // The endpoint was deleted before.
      if (!(error instanceof HoldfastError && error.code === 'endpoint_not_found')) throw error
    }
  }

  /** Sends a test notification. Returns its message; null: it is written to the log of the leading node. */
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
          {
            subject: 'this is a test notification; nothing is wrong',
            value: 0,
            threshold: 0,
            sinceMs: Date.now(),
          },
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
        `The channel "${name}" did not accept the notification. Check that it is enabled, and that its endpoint "${channel.endpoint}" exists.`,
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
  return new HoldfastError(
    'alert_channel_exists',
    `An alert channel named "${name}" already exists. Delete it, or choose another name.`,
    {
      channel: name,
    },
  )
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(
    'alert_not_found',
    `There is no alert channel named "${name}". List them with: holdfast alert-channels list`,
    { channel: name },
  )
}
