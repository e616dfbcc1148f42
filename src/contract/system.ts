import { z } from 'zod'
import { defineOperation } from './define-operation.ts'
import { listOf, pageQuery, timestamp } from './shapes.ts'

const tag = 'System'

const node = z
  .object({
    name: z.string(),
    incarnation: z.int().meta({ description: 'Counts the starts of all nodes.' }),
    version: z.string(),
    state: z.enum(['alive', 'stopping', 'lost']),
    isLeader: z.boolean().meta({ description: 'Runs the maintenance tasks.' }),
    startedAt: timestamp,
    lastBeatAt: timestamp,
    shards: z.int().meta({ description: 'How many of the 256 groups of lanes it owns.' }),
    endpoints: z.int().meta({ description: 'How many endpoints have their lane in these shards.' }),
    pending: z.int().meta({ description: 'Pending deliveries of these lanes, as it last reported.' }),
  })
  .meta({ id: 'SystemNode' })

const table = z
  .object({
    name: z.string(),
    parent: z.string().nullable().meta({ description: 'The table that a partition belongs to.' }),
    from: timestamp.nullable().meta({ description: 'The time that a partition covers.' }),
    to: timestamp.nullable(),
    bytes: z.int().meta({ description: 'With its indexes.' }),
    rows: z
      .int()
      .nullable()
      .meta({ description: 'As PostgreSQL last estimated them; null: it has not looked yet.' }),
    deadRows: z.int().meta({ description: 'Estimate of the rows that vacuum has yet to remove.' }),
  })
  .meta({ id: 'SystemTable' })

const finding = z
  .object({
    check: z.string().meta({ examples: ['durability'] }),
    verdict: z.enum(['ok', 'warn', 'fail']),
    message: z.string(),
    advice: z.string().nullable().meta({ description: 'What to do; null when all is well.' }),
  })
  .meta({ id: 'SystemCheck' })

export const systemOperations = {
  status: defineOperation({
    id: 'getSystem',
    method: 'GET',
    path: '/v1/system',
    tag,
    summary: 'Nodes with what they own, and the database',
    permission: 'read',
    result: z
      .object({
        version: z.string(),
        schema: z.int().meta({ description: 'The number of the last change to the tables.' }),
        nodes: z.array(node),
        ownedShards: z
          .int()
          .meta({ description: 'Of 256; the others have no live owner, and their deliveries wait.' }),
        database: z.object({
          version: z.string(),
          startedAt: timestamp,
          bytes: z.int(),
          connections: z.int().meta({ description: 'To this database, of all users.' }),
          maxConnections: z.int().meta({ description: 'To all databases of the server.' }),
          hasFsync: z.boolean(),
          synchronousCommit: z.string(),
        }),
      })
      .meta({ id: 'System' }),
  }),
  tables: defineOperation({
    id: 'listTables',
    method: 'GET',
    path: '/v1/system/tables',
    tag,
    summary: 'Tables and partitions by name, with their sizes',
    permission: 'read',
    query: z.strictObject({ ...pageQuery }),
    result: listOf(table),
  }),
  checks: defineOperation({
    id: 'listChecks',
    method: 'GET',
    path: '/v1/system/checks',
    tag,
    summary: 'What `holdfast doctor` finds in the database',
    description:
      'Secrets, the disk and the connection for notifications are checked by `holdfast doctor` only, on the machine of a node.',
    permission: 'read',
    result: z.object({ data: z.array(finding) }),
  }),
}
