import {
  type Attention,
  attentionOfAlert,
  attentionOfEndpoint,
  attentionOfLetters,
  attentionOfOldLetters,
  attentionOfTask,
  byUrgency,
  withoutEffects,
} from '../core/alerts/attention.ts'
import { listAlerts } from '../storage/alerts.ts'
import {
  type RecentChange,
  readLetterInflow,
  readRecentChanges,
  readTroubledEndpoints,
} from '../storage/attention.ts'
import { readTotals, type Totals } from '../storage/changes.ts'
import type { Database } from '../storage/database.ts'
import { readMaintenance } from '../storage/maintenance-tasks.ts'
import { type NodeRow, type OverviewRow, readLiveNodes, readOverview } from '../storage/overview.ts'
import { beforeEverything } from '../storage/page.ts'
import { translateError } from '../storage/translate-error.ts'
import { version } from '../version.ts'
import { SharedRead } from './shared-read.ts'

export interface OverviewReport {
  readonly version: string
  readonly nodes: readonly NodeRow[]
  readonly totals: Totals
  /** Problems, most urgent first; at most 200. */
  readonly attention: readonly Attention[]
  /** Number of firing alerts; 100 means 100 or more. */
  readonly firingAlerts: number
  /** The latest changes, by people and by Holdfast; newest first. */
  readonly changes: readonly RecentChange[]
  /** Endpoints that need attention first; at most 200. */
  readonly endpoints: readonly OverviewRow[]
}

const maxEndpoints = 200
const maxAttention = 200
const maxAlerts = 100
const maxLetters = 1000
const maxLetterLanes = 20
const maxChanges = 50

/** Overview of the installation. */
export class Overview {
  readonly #database: () => Database
  readonly #shared = new SharedRead(() => this.#read())

  constructor(options: { readonly database: () => Database }) {
    this.#database = options.database
  }

  /** Runs eight statements. Concurrent calls share them, because every open dashboard page calls this once a second. */
  get(): Promise<OverviewReport> {
    return this.#shared.get()
  }

  async #read(): Promise<OverviewReport> {
    const database = this.#database()
    try {
      const [nodes, totals, endpoints, changes, found] = await Promise.all([
        readLiveNodes(database),
        readTotals(database),
        readOverview(database, maxEndpoints),
        readRecentChanges(database, maxChanges),
        readAttention(database),
      ])
      const { attention, freshLetters, firingAlerts } = found
      if (freshLetters === 0 && totals.deadLetters > 0)
        attention.push(attentionOfOldLetters(totals.deadLetters))
      return {
        version,
        nodes,
        totals,
        attention: attention.sort(byUrgency).slice(0, maxAttention),
        firingAlerts,
        changes,
        endpoints,
      }
    } catch (error) {
      throw translateError(error)
    }
  }
}

async function readAttention(
  database: Database,
): Promise<{ attention: Attention[]; freshLetters: number; firingAlerts: number }> {
  const [troubled, letters, alerts, { tasks }] = await Promise.all([
    readTroubledEndpoints(database, maxAttention),
    readLetterInflow(database, maxLetters, maxLetterLanes),
    listAlerts(database, ['firing'], beforeEverything, maxAlerts),
    readMaintenance(database),
  ])
  const freshLetters = letters.reduce((sum, lane) => sum + lane.letters, 0)
  const failing = tasks.filter(({ state }) => state === 'failing')
  const toldByTask = new Set(failing.map(({ name }) => `task:${name}`))
  const attention = withoutEffects(
    [
      ...troubled.map(attentionOfEndpoint),
      ...letters.map((lane) => attentionOfLetters(lane, freshLetters >= maxLetters)),
      ...alerts.map(attentionOfAlert).filter((one) => !toldByTask.has(one?.subject ?? '')),
      ...failing.map(attentionOfTask),
    ].filter((one) => one !== null),
  )
  return { attention, freshLetters, firingAlerts: alerts.length }
}
