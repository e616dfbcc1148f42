import type { Database } from './database.ts'

export interface GroupDetails {
  /** Dead letters in each of the last 24 hours, the oldest first; at most a hundred an hour. */
  readonly series: readonly number[]
  readonly routes: readonly string[]
  readonly changeAt: Date | null
  readonly changeAction: string | null
  readonly changeSubject: string | null
}

/** Details of each given group, in their order. Indexes: see holdfast_internal.group_details. */
export async function readGroupDetails(
  database: Database,
  groups: readonly { readonly laneId: number; readonly fingerprint: string; readonly firstSeenAt: Date }[],
  state: string | null,
): Promise<GroupDetails[]> {
  return database.query<GroupDetails>(
    {
      name: 'read_group_details',
      text: `
        select series, routes, change_at as "changeAt", change_action as "changeAction", change_subject as "changeSubject"
        from holdfast_internal.group_details($1, $2, $3, $4) order by place`,
    },
    [
      groups.map(({ laneId }) => laneId),
      groups.map(({ fingerprint }) => fingerprint),
      groups.map(({ firstSeenAt }) => firstSeenAt),
      state,
    ],
  )
}

export interface LettersBreakdown {
  readonly critical: number
  readonly orderingKeys: number
  readonly oldestAt: Date | null
  readonly lookedAt: number
  readonly isComplete: boolean
}

/** A breakdown of the dead letters that an operation would affect, among the first 10,000. Indexes: see holdfast_internal.letters_breakdown. */
export async function readLettersBreakdown(
  database: Database,
  filter: object,
  asOf: string,
): Promise<LettersBreakdown> {
  const rows = await database.query<LettersBreakdown>(
    {
      name: 'read_letters_breakdown',
      text: `
        select critical, ordering_keys as "orderingKeys", oldest_at as "oldestAt", looked_at as "lookedAt", is_complete as "isComplete"
        from holdfast_internal.letters_breakdown($1, $2)`,
    },
    [JSON.stringify(filter), asOf],
  )
  const [breakdown] = rows
  if (breakdown === undefined) throw new Error('letters_breakdown returned no row')
  return breakdown
}
