import type { SendOptionsInput } from '../core/delivery/send-options.ts'
import type { RawJson } from './raw-json.ts'
import type { TransactionClient } from './transaction-client.ts'

export type SendOptions = SendOptionsInput & {
  /** Your own transaction (a `pg` client, or that of Drizzle, Knex, Kysely or Prisma): the message is stored in it, or not at all. */
  readonly client?: TransactionClient | undefined
}

export type BatchMessage = SendOptionsInput & { readonly payload: unknown }

export type PublishOptions = Omit<SendOptionsInput, 'type'> & {
  /** Your own transaction (a `pg` client, or that of Drizzle, Knex, Kysely or Prisma): the event is stored in it, or not at all. */
  readonly client?: TransactionClient | undefined
}

/** An event of a batch. With an event map, its type determines its payload. */
export type BatchEvent<Events extends object = AnyEvents> = {
  [Type in keyof Events & string]: Omit<SendOptionsInput, 'type'> & {
    readonly type: Type
    readonly payload: Events[Type] | RawJson
  }
}[keyof Events & string]

/** Events of any type, with any payload. */
export type AnyEvents = Record<string, unknown>

export interface PublishedEvent {
  /** `msg_…`; receivers get it as `webhook-id`. */
  readonly id: string
  /** Number of deliveries created; 0 if no route matches: the event is stored as unrouted. */
  readonly deliveries: number
  /** How many of these deliveries wait because their endpoint is paused, disabled or rejecting. */
  readonly held: number
}

export interface SentMessage {
  /** `msg_…`; receivers get it as `webhook-id`. */
  readonly id: string
  readonly deliveryId: string
}
