import { parseId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import type { ReplayInput } from '../core/operations/operation-input.ts'
import type { Database } from '../storage/database.ts'
import { replayMessage } from '../storage/replays.ts'
import type { Operation, OperationPreview, Operations } from './operations.ts'
import { onDatabase } from './page.ts'

export interface ReplaysOptions {
  readonly database: () => Database
  readonly operations: Operations
  readonly actor: string
}

/**
 * Sends messages of the archive again. For its receiver a replay is a new message: it has its own `webhook-id`, no expiry and no idempotency key. Its
 * body isn't stored again.
 */
export class Replays {
  readonly #options: ReplaysOptions

  constructor(options: ReplaysOptions) {
    this.#options = options
  }

  /**
   * Replays a range of the archive, in its order.
   *
   * @example await holdfast.replays.create({ endpoint: 'crm', from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z', state: 'succeeded' })
   */
  create(input: ReplayInput): Promise<Operation> {
    return this.#options.operations.createReplay(input)
  }

  /** A dry run: counts the messages that it would send. */
  preview(input: ReplayInput): Promise<OperationPreview> {
    return this.#options.operations.previewReplay(input)
  }

  /**
   * Replays one message (`msg_…`) to all its endpoints, or one delivery (`dlv_…`); or sends either unchanged to another endpoint, or through a route,
   * ignoring the route's filter.
   */
  async one(
    id: string,
    options: { readonly targetEndpoint?: string; readonly targetRoute?: string } = {},
  ): Promise<{ readonly deliveryIds: readonly string[] }> {
    if (parseId('msg', id) === undefined && parseId('dlv', id) === undefined) throw nothingToReplay(id)
    const { actor, database } = this.#options
    return onDatabase(database(), async (opened) => ({
      deliveryIds: await replayMessage(opened, id, options, actor),
    }))
  }
}

function nothingToReplay(id: string): HoldfastError {
  return new HoldfastError(
    'event_not_found',
    `There is no message or delivery "${id}" to replay. It may have been removed by retention.`,
    { id },
  )
}
