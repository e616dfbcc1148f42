import type { Client } from 'pg'
import {
  deleteRejects,
  insertRejects,
  listRejects,
  noteRejectTried,
  purgeRejects,
  readReject,
  readRejectIds,
} from '../../../src/storage/source-rejects.ts'
import { deleteSource, reportSources } from '../../../src/storage/sources.ts'
import type { PlanEntry } from './entry.ts'

const pageRows = 51
const few = { rows: 300, why: 'a hundred sources at most, and the live nodes' }

/** Two sources, and rejected messages of the first. */
export async function fillSources(client: Client, count: number): Promise<void> {
  await client.query(`
    insert into holdfast_internal.event_sources (name, type, config) values ('lab', 'amqp', '{}'), ('quiet', 'amqp', '{}')`)
  await client.query(
    `insert into holdfast_internal.source_rejects (source_id, code, error, fields, body)
     select source.id, 'payload_invalid_json', 'e', '{}', 'x' from holdfast_internal.event_sources as source, generate_series(1, $1) where source.name = 'lab'`,
    [count],
  )
}

/** What is asked of sources and their rejected messages. */
export const sourceEntries: readonly PlanEntry[] = [
  {
    of: 'source-rejects#listRejects',
    what: 'all',
    run: async (database) => (await listRejects(database, null, null, pageRows)).length,
  },
  {
    of: 'source-rejects#listRejects',
    what: 'of a source',
    run: async (database) => (await listRejects(database, 'lab', null, pageRows)).length,
  },
  {
    of: 'source-rejects#listRejects',
    what: 'of a source without any',
    run: async (database) => (await listRejects(database, 'quiet', null, pageRows)).length,
    bound: few,
  },
  {
    of: 'source-rejects#readReject',
    run: async (database) => Number((await readReject(database, 5, 100)) !== undefined),
  },
  {
    of: 'source-rejects#readRejectIds',
    run: async (database) => (await readRejectIds(database, 'lab', 10, pageRows)).length,
  },
  { of: 'source-rejects#deleteRejects', run: async (database) => deleteRejects(database, [7]), bound: few },
  {
    of: 'source-rejects#noteRejectTried',
    run: async (database) => {
      await noteRejectTried(database, 9, 'schema_violation', 'e')
      return 1
    },
  },
  {
    of: 'source-rejects#insertRejects',
    run: async (database) => {
      const reject = {
        messageId: null,
        correlationId: null,
        code: 'c',
        error: 'e',
        fields: {},
        body: Buffer.from('x'),
      }
      // The empty tables have no source, and refuse it.
      await insertRejects(database.queryable, 1, [reject])
      return 1
    },
    bound: few,
  },
  {
    of: 'source-rejects#purgeRejects',
    run: (database) => database.inTransaction((client) => purgeRejects(client, 500)),
    bound: { rows: 500, why: 'rows of a step' },
  },
  {
    of: 'sources#deleteSource',
    what: 'a step by force',
    run: async (database) =>
      (await deleteSource(database, 'lab', true, 'lab', { maxRows: 500, removed: 0 }))?.rejects ?? 0,
    bound: { rows: 2000, why: 'rows of a step, found by their source and deleted by their ids' },
  },
  {
    of: 'sources#reportSources',
    run: async (database) => {
      await reportSources(database, { incarnation: 1, name: 'lab' }, [
        {
          sourceId: 1,
          state: 'connected',
          error: null,
          sinceMs: 5,
          received: 1,
          published: 1,
          rejected: 0,
          unacknowledged: 0,
        },
      ])
      return 1
    },
    bound: few,
  },
]
