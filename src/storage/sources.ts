import type { Database } from './database.ts'

export type SourceState = 'active' | 'paused' | 'rejecting'

/** A stored source: its secrets are encrypted inside `config`. */
export interface SourceRow {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly config: Readonly<Record<string, unknown>>
  readonly state: SourceState
  readonly stateReason: string | null
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A live node's last report of a source; the counts are since the node started. */
export interface SourceReport {
  readonly node: string
  readonly state: 'connecting' | 'connected' | 'stalled' | 'disconnected'
  readonly error: string | null
  /** Start of the current connection, or of the time without one. */
  readonly since: Date
  readonly received: number
  readonly published: number
  readonly rejected: number
  readonly unacknowledged: number
  readonly reportedAt: Date
}

export interface SourceRecord extends SourceRow {
  readonly nodes: readonly SourceReport[]
  /** Rejected messages, counted to 10,000. */
  readonly rejects: number
}

const maxCountedRejects = 10_000

const columns = `source.id, source.name, source.type, source.config, source.state, source.state_reason as "stateReason", source.version::float8 as version,
  source.created_at as "createdAt", source.updated_at as "updatedAt"`

/** Reports of nodes that are alive, and the number of rejects. Indexes: source_reports_pkey, nodes_pkey, source_rejects_source. */
const seen = `
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object(
      'node', report.node, 'state', report.state, 'error', report.error, 'since', extract(epoch from report.since) * 1000,
      'received', report.received, 'published', report.published, 'rejected', report.rejected, 'unacknowledged', report.unacknowledged,
      'reportedAt', extract(epoch from report.reported_at) * 1000) order by report.node, report.incarnation), '[]') as nodes
    from holdfast_internal.source_reports as report
    where report.source_id = source.id and exists (select from holdfast_internal.nodes as alive where alive.incarnation = report.incarnation)
  ) as reports
  cross join lateral (
    select count(*)::int as rejects from (
      select from holdfast_internal.source_rejects as reject where reject.source_id = source.id limit ${maxCountedRejects}
    ) as found
  ) as counted`

type ReportJson = Omit<SourceReport, 'since' | 'reportedAt'> & {
  readonly since: number
  readonly reportedAt: number
}

function withDates(row: SourceRow & { readonly nodes: readonly ReportJson[]; readonly rejects: number }) {
  const nodes = row.nodes.map((report) => ({
    ...report,
    since: new Date(report.since),
    reportedAt: new Date(report.reportedAt),
  }))
  return { ...row, nodes }
}

/** Returns undefined if the name is taken, or the maximum number of sources exists. Index: event_sources_name_key. */
export async function insertSource(
  database: Database,
  source: Pick<SourceRow, 'name' | 'type' | 'config'>,
  shown: object,
  maxSources: number,
  actor: string,
): Promise<SourceRow | undefined> {
  const rows = await database.query<SourceRow>(
    {
      name: 'insert_source',
      text: `
        with source as (
          insert into holdfast_internal.event_sources (name, type, config)
          select $1, $2, $3 where (select count(*) from holdfast_internal.event_sources) < $6
          on conflict (name) do nothing returning *
        ), noted as (
          select holdfast_internal.audit($5, 'source.created', 'source:' || name, jsonb_build_object('type', type, 'config', $4::jsonb)),
                 holdfast_internal.tell_nodes('holdfast_sources', name)
          from source
        )
        select ${columns} from source, noted`,
    },
    [source.name, source.type, JSON.stringify(source.config), JSON.stringify(shown), actor, maxSources],
  )
  return rows[0]
}

/** Returns undefined if the source was changed since it was read, or was deleted. Index: event_sources_name_key. */
export async function updateSource(
  database: Database,
  source: Pick<SourceRow, 'name' | 'config' | 'version'>,
  shown: { readonly before: object; readonly after: object },
  actor: string,
): Promise<SourceRow | undefined> {
  const rows = await database.query<SourceRow>(
    {
      name: 'update_source',
      text: `
        with source as (
          update holdfast_internal.event_sources set config = $2, version = version + 1, updated_at = clock_timestamp()
          where name = $1 and version = $3 returning *
        ), noted as (
          select holdfast_internal.audit($6, 'source.updated', 'source:' || name, holdfast_internal.changes($4::jsonb, $5::jsonb)),
                 holdfast_internal.tell_nodes('holdfast_sources', name)
          from source
        )
        select ${columns} from source, noted`,
    },
    [
      source.name,
      JSON.stringify(source.config),
      source.version,
      JSON.stringify(shown.before),
      JSON.stringify(shown.after),
      actor,
    ],
  )
  return rows[0]
}

/** Returns whether there is such a source; with a version, only if the source still has it. Index: event_sources_name_key. */
export async function setSourceState(
  database: Database,
  name: string,
  state: SourceState,
  reason: string | null,
  actor: string,
  version: number | null = null,
): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'set_source_state',
      text: `
        with source as (
          update holdfast_internal.event_sources set state = $2, state_reason = $3, version = version + 1, state_changed_at = clock_timestamp()
          where name = $1 and ($5::bigint is null or version = $5) returning *
        )
        select holdfast_internal.audit($4, 'source.' || case $2 when 'active' then 'resumed' else $2 end, 'source:' || name,
                 jsonb_strip_nulls(jsonb_build_object('why', $3::text))),
               holdfast_internal.tell_nodes('holdfast_sources', name)
        from source`,
    },
    [name, state, reason, actor, version],
  )
  return rows.length > 0
}

/**
 * One step of a deletion. A source with rejects is deleted only if forced, after its rejects, `maxRows` in each step; `removed`
 * is the number that earlier steps deleted. Returns the rejects that this step found or deleted; null if there is no such
 * source. Indexes: event_sources_name_key, source_rejects_source.
 */
export async function deleteSource(
  database: Database,
  name: string,
  isForced: boolean,
  actor: string,
  { maxRows, removed }: { readonly maxRows: number; readonly removed: number },
): Promise<{ readonly rejects: number; readonly isDeleted: boolean } | null> {
  const rows = await database.query<{ rejects: number; isDeleted: boolean }>(
    {
      name: 'delete_source_v2',
      text: 'select rejects, is_deleted as "isDeleted" from holdfast_internal.delete_source_v2($1, $2, $3, $4, $5)',
    },
    [name, isForced, actor, maxRows, removed],
  )
  return rows[0] ?? null
}

/** Index: event_sources_name_key. */
export async function readSource(database: Database, name: string): Promise<SourceRecord | undefined> {
  const rows = await database.query<Parameters<typeof withDates>[0]>(
    {
      name: 'read_source',
      text: `select ${columns}, nodes, rejects from holdfast_internal.event_sources as source ${seen} where source.name = $1`,
    },
    [name],
  )
  return rows[0] && withDates(rows[0])
}

/** By name, after `afterName`. Index: event_sources_name_key. */
export async function listSources(
  database: Database,
  afterName: string,
  limit: number,
): Promise<SourceRecord[]> {
  const rows = await database.query<Parameters<typeof withDates>[0]>(
    {
      name: 'list_sources',
      text: `
        select ${columns}, nodes, rejects
        from (select * from holdfast_internal.event_sources where name > $1 order by name limit $2) as source ${seen}
        order by source.name`,
    },
    [afterName, limit],
  )
  return rows.map(withDates)
}

/** The sources that a node consumes: a hundred rows at most. */
export async function readActiveSources(database: Database): Promise<SourceRow[]> {
  return database.query<SourceRow>(
    {
      name: 'read_active_sources',
      text: `select ${columns} from holdfast_internal.event_sources as source where source.state = 'active' order by source.id limit 100`,
    },
    [],
  )
}

/** Sources with a secret encrypted with another key. Reads a hundred rows at most. */
export async function readSourcesUnderOtherKeys(database: Database, keyId: string): Promise<SourceRow[]> {
  return database.query<SourceRow>(
    {
      name: 'read_sources_under_other_keys',
      text: `
        select ${columns} from holdfast_internal.event_sources as source
        where exists (
          select from jsonb_path_query(source.config - 'payload', '$.**{1 to 2} ? (@.isSet == true).keyId') as used where used #>> '{}' <> $1
        ) order by source.id limit 100`,
    },
    [keyId],
  )
}

/** Returns whether the config was replaced: one that changed since it was read is skipped. Its secrets are the same, so nodes aren't notified. */
export async function replaceSourceConfig(
  database: Database,
  { id, version }: Pick<SourceRow, 'id' | 'version'>,
  config: object,
): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'replace_source_config',
      text: 'update holdfast_internal.event_sources set config = $3 where id = $1 and version = $2 returning id',
    },
    [id, version, JSON.stringify(config)],
  )
  return rows.length > 0
}

/** A new report of a node. */
export type NewSourceReport = Omit<SourceReport, 'node' | 'since' | 'reportedAt'> & {
  readonly sourceId: number
  /** By the node's own clock, which may differ from the database's. */
  readonly sinceMs: number
}

/** Writes a node's reports of its sources, and deletes reports of nodes that are gone. Indexes: source_reports_pkey, nodes_pkey. */
export async function reportSources(
  database: Database,
  node: { readonly incarnation: number; readonly name: string },
  reports: readonly NewSourceReport[],
): Promise<void> {
  await database.query(
    { name: 'report_sources', text: 'select holdfast_internal.report_sources($1, $2, $3)' },
    [node.incarnation, node.name, JSON.stringify(reports)],
  )
}
