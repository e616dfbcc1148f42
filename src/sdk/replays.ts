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
 * Sends what was published before once more, from the archive. A replay is a new message to its receiver: it has a `webhook-id` of its own, no
 * expiry and no idempotency key. Its body isn't written again.
 */
export class Replays {
  readonly #options: ReplaysOptions

  constructor(options: ReplaysOptions) {
    this.#options = options
  }

  /**
   * A range of the archive, in its order.
   *
   * @example await holdfast.replays.create({ endpoint: 'crm', from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z', state: 'succeeded' })
   */
  create(input: ReplayInput): Promise<Operation> {
    return this.#options.operations.createReplay(input)
  }

  /** A dry run: how many it would send. */
  preview(input: ReplayInput): Promise<OperationPreview> {
    return this.#options.operations.previewReplay(input)
  }

  /**
   * One message (`msg_…`) every way that it went, or one delivery (`dlv_…`); or either to another endpoint as it is, or along a route, whatever the
   * route's filter says.
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
