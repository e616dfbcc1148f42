import { HoldfastError } from '../core/errors.ts'
import type { Queryable } from '../storage/queryable.ts'

/** A transaction of Drizzle on node-postgres: the argument of the callback in `db.transaction(async (tx) => …)`. */
export interface DrizzleTransaction {
  rollback(): never
  execute(query: never): unknown
}

/** A transaction of Knex: the argument of the callback in `knex.transaction(async (trx) => …)`. */
export interface KnexTransaction {
  raw(sql: string): unknown
  isCompleted(): boolean
}

/** A transaction of Kysely: the argument of the callback in `db.transaction().execute(async (trx) => …)`. */
export interface KyselyTransaction {
  readonly isTransaction: true
  executeQuery(query: never): Promise<{ readonly rows: readonly unknown[] }>
}

/** A transaction of Prisma: the argument of the callback in `prisma.$transaction(async (tx) => …)`. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>
}

/** Your own transaction: a `pg` client, or the transaction that Drizzle, Knex, Kysely or Prisma passes to its callback. */
export type TransactionClient =
  | Queryable
  | DrizzleTransaction
  | KnexTransaction
  | KyselyTransaction
  | PrismaTransaction

type Query = Parameters<Queryable['query']>[0]
type Loose = Readonly<Record<string, unknown>>

/** The options of a batch as a whole. All others belong to its messages. */
export interface BatchOptions {
  readonly client?: TransactionClient | undefined
}

/** The transaction of a batch, if it has one. JavaScript may pass options that would be ignored, or the client itself. */
export function batchClient(options: BatchOptions): Queryable | undefined {
  const [unknown] = Object.keys(options).filter((option) => option !== 'client')
  if (unknown !== undefined) {
    throw new HoldfastError(
      'invalid_options',
      `The options of the batch are invalid. ${unknown}: give it with each message; a batch as a whole takes only client`,
    )
  }
  return options.client === undefined ? undefined : queryableOf(options.client)
}

/** Returns an interface to run our statements in the caller's transaction, for any of these libraries. */
export function queryableOf(client: TransactionClient): Queryable {
  const loose = asLoose(client)
  if (loose === null) throw unknownClient()
  if (isFunction(loose['query'])) return fromPg(client as Queryable, loose)
  if (isFunction(loose['raw'])) return fromKnex(loose)
  if (isFunction(loose['executeQuery'])) return fromKysely(loose)
  if (isFunction(loose['$queryRawUnsafe'])) return fromPrisma(loose)
  if (isFunction(loose['rollback']) || isFunction(loose['execute'])) return fromDrizzle(loose)
  throw unknownClient()
}

/** The statements of a client that never connects wait for ever. */
function fromPg(client: Queryable, loose: Loose): Queryable {
  if (loose['_connected'] === false && loose['_connecting'] === false) {
    throw refused('This pg client is not connected: await client.connect(), then run `begin` on it.')
  }
  return client
}

/** Drizzle's session holds the connection of its transaction. */
function fromDrizzle(transaction: Loose): Queryable {
  const connection = asLoose(asLoose(transaction['session'])?.['client'])
  if (connection === null || !isFunction(connection['query']) || !isFunction(transaction['rollback'])) {
    throw refused(
      'This Drizzle client is not a transaction on node-postgres: pass the `tx` of db.transaction(async (tx) => …), with a db of drizzle-orm/node-postgres.',
    )
  }
  return connection as unknown as Queryable
}

function fromKnex(transaction: Loose): Queryable {
  const { isCompleted } = transaction
  if (!isFunction(isCompleted)) {
    throw refused(
      'This is Knex itself and not a transaction: pass the `trx` of knex.transaction(async (trx) => …).',
    )
  }
  const { client } = transaction as unknown as { client: { acquireConnection(): Promise<Queryable> } }
  return {
    query: async (query) => {
      // Knex's connection continues after the transaction's end, in another transaction or none.
      if (isCompleted.call(transaction) === true) {
        throw refused('This Knex transaction has ended: publish before its callback returns.')
      }
      const connection = await client.acquireConnection()
      if (!isFunction(asLoose(connection)?.['query'])) {
        throw refused("This Knex transaction isn't on PostgreSQL: create knex with { client: 'pg' }.")
      }
      return connection.query(query)
    },
  }
}

function fromKysely(transaction: Loose): Queryable {
  if (transaction['isTransaction'] !== true) {
    throw refused(
      'This is Kysely itself and not a transaction: pass the `trx` of db.transaction().execute(async (trx) => …).',
    )
  }
  const kysely = transaction as { executeQuery(query: object): Promise<{ rows: object[] }> }
  return {
    query: async ({ text, values }) => {
      const compiled = {
        sql: text,
        parameters: values,
        query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
        queryId: { queryId: 'holdfast' },
      }
      return { rows: asArrays((await kysely.executeQuery(compiled)).rows) }
    },
  }
}

function fromPrisma(transaction: Loose): Queryable {
  if (isFunction(transaction['$transaction'])) {
    throw refused(
      'This is Prisma itself and not a transaction: pass the `tx` of prisma.$transaction(async (tx) => …).',
    )
  }
  const prisma = transaction as {
    $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<object[]>
  }
  return {
    query: async ({ text, values }: Query) => ({
      rows: asArrays(await prisma.$queryRawUnsafe(text, ...values)),
    }),
  }
}

/** These libraries return rows as objects. Our statements give each column a unique name, so the values are in column order. */
function asArrays(rows: readonly object[]): unknown[][] {
  return rows.map((row) => Object.values(row) as unknown[])
}

function asLoose(value: unknown): Loose | null {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject ? (value as Loose) : null
}

function isFunction(value: unknown): value is (this: unknown, ...given: unknown[]) => unknown {
  return typeof value === 'function'
}

function unknownClient(): HoldfastError {
  return refused(
    'Holdfast does not support this client: pass a pg client, or the transaction of Drizzle (node-postgres), Knex, Kysely or Prisma. ' +
      'With any other library run in your transaction: select holdfast.publish(type, payload, options)',
  )
}

function refused(message: string): HoldfastError {
  return new HoldfastError('invalid_options', message)
}
