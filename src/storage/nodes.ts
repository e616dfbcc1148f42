import type { Database } from './database.ts'
import { firstUnseen, serverLife } from './watermark.ts'

export interface PeerRow {
  readonly incarnation: number
  readonly name: string
  readonly beat: number
  readonly isStopping: boolean
}

export interface BeatResult {
  /** False if this incarnation was declared dead. */
  readonly isKnown: boolean
  readonly peers: readonly PeerRow[]
  /** The incarnation that owns each shard; 0 = none. */
  readonly owners: readonly number[]
  readonly epochs: readonly number[]
  readonly databaseNowMs: number
  /** Identifies the server start, as in the arrivals. */
  readonly life: string
  /** Endpoints or circuits, routes or event types changed since the watermarks. */
  readonly haveLanesChanged: boolean
  readonly haveShapesChanged: boolean
  readonly hasNotices: boolean
}

/** The positions up to which this node has read changes made by others. */
export interface ChangeWatermarks {
  readonly lanes: string
  readonly shapes: string
  readonly notices: string
}

export interface TakenShard {
  readonly shard: number
  readonly epoch: number
  /** The last owner died with deliveries in flight. */
  readonly isSuspect: boolean
}

export async function registerNode(database: Database, name: string, version: string): Promise<number> {
  const rows = await database.query<{ incarnation: number }>(
    { name: 'register_node', text: 'select holdfast_internal.register_node($1, $2) as incarnation' },
    [name, version],
  )
  return Number(rows[0]?.incarnation)
}

/**
 * Also returns whether there are changes to read: separate statements for that, every second, were half of an idle node's processor
 * time. Served by the primary keys of nodes (a few rows) and shard_leases (256), and by endpoints_changed, breakers_changed,
 * routes_changed, event_types_changed, notices_changed, one entry each.
 */
export async function beat(
  database: Database,
  incarnation: number,
  pending: number,
  watermarks: ChangeWatermarks,
): Promise<BeatResult> {
  const rows = await database.query<{
    is_known: boolean
    nodes: PeerRow[] | null
    owners: number[]
    epochs: number[]
    now_ms: number
    life: string
    lanes_changed: boolean
    shapes_changed: boolean
    has_notices: boolean
  }>(
    {
      name: 'beat',
      text: `
        select is_known, nodes, owners, epochs, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, ${serverLife} as life,
               exists (select from holdfast_internal.endpoints where changed_xid >= ${firstUnseen('$3')})
                 or exists (select from holdfast_internal.breakers where changed_xid >= ${firstUnseen('$3')}) as lanes_changed,
               exists (select from holdfast_internal.routes where changed_xid >= ${firstUnseen('$4')})
                 or exists (select from holdfast_internal.event_types where changed_xid >= ${firstUnseen('$4')}) as shapes_changed,
               exists (select from holdfast_internal.notices where changed_xid >= ${firstUnseen('$5')}) as has_notices
        from holdfast_internal.beat($1, $2)`,
    },
    [incarnation, pending, watermarks.lanes, watermarks.shapes, watermarks.notices],
  )
  const row = rows[0]
  if (row === undefined) throw new Error('holdfast_internal.beat returned no row')
  return {
    isKnown: row.is_known,
    peers: row.nodes ?? [],
    owners: row.owners,
    epochs: row.epochs,
    databaseNowMs: row.now_ms,
    life: row.life,
    haveLanesChanged: row.lanes_changed,
    haveShapesChanged: row.shapes_changed,
    hasNotices: row.has_notices,
  }
}

export async function takeShards(
  database: Database,
  incarnation: number,
  from: { readonly incarnation: number; readonly seenBeat: number },
  shards: readonly number[],
): Promise<{ readonly taken: TakenShard[]; readonly interrupted: number }> {
  const rows = await database.query<{
    shard: number
    epoch: number
    is_suspect: boolean
    interrupted: number
  }>(
    {
      name: 'take_shards_v2',
      text: 'select shard, epoch, is_suspect, interrupted from holdfast_internal.take_shards_v2($1, $2, $3, $4)',
    },
    [incarnation, from.incarnation, from.seenBeat, shards],
  )
  return {
    taken: rows.map((row) => ({ shard: row.shard, epoch: row.epoch, isSuspect: row.is_suspect })),
    interrupted: rows[0]?.interrupted ?? 0,
  }
}

export async function releaseShards(database: Database, incarnation: number, shards: readonly number[]) {
  await database.query({ name: 'release_shards', text: 'select holdfast_internal.release_shards($1, $2)' }, [
    incarnation,
    shards,
  ])
}

export async function buryNode(database: Database, incarnation: number, seenBeat: number): Promise<void> {
  await database.query({ name: 'bury_node', text: 'select holdfast_internal.bury_node($1, $2)' }, [
    incarnation,
    seenBeat,
  ])
}

export async function retireNode(database: Database, incarnation: number): Promise<void> {
  await database.query({ name: 'retire_node', text: 'select holdfast_internal.retire_node($1)' }, [
    incarnation,
  ])
}

/** Marks a node as stopping: other nodes take its shards as it releases them, and it gets none back. */
export async function markStopping(database: Database, incarnation: number): Promise<void> {
  await database.query(
    {
      name: 'mark_stopping',
      text: 'update holdfast_internal.nodes set is_stopping = true, is_asleep = false where incarnation = $1',
    },
    [incarnation],
  )
}

export async function setAsleep(database: Database, incarnation: number, isAsleep: boolean): Promise<void> {
  await database.query(
    { name: 'set_asleep', text: 'update holdfast_internal.nodes set is_asleep = $2 where incarnation = $1' },
    [incarnation, isAsleep],
  )
}

export interface NodeShare {
  readonly name: string
  readonly incarnation: number
  readonly version: string
  readonly isStopping: boolean
  readonly startedAt: Date
  readonly lastBeatAt: Date
  readonly sinceBeatMs: number
  /** How many of the 256 shards the node owns. */
  readonly shards: number
  /** Endpoints whose lanes are in these shards. */
  readonly endpoints: number
  /** Pending deliveries of these lanes, as the node last reported. */
  readonly pending: number
}

/** The share of each node: a few rows, the 256 leases, and the endpoints by endpoints_shard. */
export async function readNodeShares(database: Database): Promise<NodeShare[]> {
  return database.query<NodeShare>(
    {
      name: 'read_node_shares',
      text: `
        with filled as (select (id & 255) as shard, count(*) as endpoints from holdfast_internal.endpoints group by 1)
        select node.name, node.incarnation, node.version, node.is_stopping as "isStopping", node.started_at as "startedAt",
               node.beat_at as "lastBeatAt", (extract(epoch from clock_timestamp() - node.beat_at) * 1000)::float8 as "sinceBeatMs",
               count(lease.shard)::int as shards, coalesce(sum(filled.endpoints), 0)::int as endpoints, node.pending::float8 as pending
        from holdfast_internal.nodes as node
        left join holdfast_internal.shard_leases as lease on lease.incarnation = node.incarnation
        left join filled on filled.shard = lease.shard
        group by node.incarnation order by node.incarnation limit 1000`,
    },
    [],
  )
}
