import { formatId } from '../core/delivery/ids.ts'
import type { Node } from '../engine/node.ts'
import type { Database } from '../storage/database.ts'
import type { Queryable } from '../storage/queryable.ts'
import { checkBound, sendMessageBeside, sendMessages } from '../storage/send-messages.ts'
import { translateError } from '../storage/translate-error.ts'
import { checkedOptions } from './message-options.ts'
import type { BatchMessage, SentMessage } from './messages.ts'
import { encodePayload } from './payload.ts'

/** Larger batches are stored in parts of this size, inside one transaction. */
const maxBatchMessages = 5000

/** Validates and stores messages for one endpoint. */
export class MessageSender {
  readonly #database: Database
  readonly #node: () => Node | null

  /** `node`: the running node of this process, which may start a message without a notification. */
  constructor(database: Database, node: () => Node | null) {
    this.#database = database
    this.#node = node
  }

  async send(
    endpoint: string,
    messages: readonly BatchMessage[],
    client: Queryable | undefined,
  ): Promise<SentMessage[]> {
    const bodies: string[] = []
    const options: (object | null)[] = []
    let hasOptions = false
    messages.forEach(({ payload, ...rest }, index) => {
      bodies.push(encodePayload(payload, index))
      const given = Object.keys(rest).length === 0 ? null : checkedOptions(rest, index)
      hasOptions ||= given !== null
      options.push(given)
    })
    try {
      const accepted = await this.#store(client, endpoint, bodies, hasOptions ? options : null)
      return accepted.map((id) => ({ id: formatId('msg', id), deliveryId: formatId('dlv', id) }))
    } catch (error) {
      throw translateError(error)
    }
  }

  async #store(
    client: Queryable | undefined,
    endpoint: string,
    bodies: readonly string[],
    options: readonly (object | null)[] | null,
  ) {
    const [body] = bodies
    const node = this.#node()
    const isPlain = client === undefined && options === null && bodies.length === 1
    if (node !== null && isPlain && body !== undefined) return [await this.#storeBeside(node, endpoint, body)]
    // The caller's client may be outside a transaction: then a single statement keeps the batch atomic.
    if (bodies.length <= maxBatchMessages || client !== undefined) {
      const ids = await sendMessages(client ?? this.#database.queryable, endpoint, bodies, options)
      if (client === undefined) node?.ring()
      return ids
    }
    const storePieces = async (queryable: Queryable) => {
      const accepted: number[] = []
      await checkBound(queryable, bodies.length)
      for (let at = 0; at < bodies.length; at += maxBatchMessages) {
        const to = at + maxBatchMessages
        accepted.push(
          ...(await sendMessages(queryable, endpoint, bodies.slice(at, to), options?.slice(at, to) ?? null)),
        )
      }
      return accepted
    }
    const ids = await this.#database.inTransaction(storePieces)
    node?.ring()
    return ids
  }

  /** For a lane of this process's node: needs no notification, and often no read. */
  async #storeBeside(node: Node, endpoint: string, body: string): Promise<number> {
    try {
      const { isPublishers, ...accepted } = await sendMessageBeside(
        this.#database.queryable,
        endpoint,
        body,
        node.incarnation,
      )
      if (isPublishers) node.take({ ...accepted, body })
      return accepted.id
    } catch (error) {
      // The message may have been stored.
      node.ring()
      throw error
    }
  }
}
