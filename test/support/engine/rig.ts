import type { NodeLimits } from '../../../src/engine/limits.ts'
import type { Logger } from '../../../src/engine/logger.ts'
import { loopbackNetworks } from '../../../src/network/network-rules.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { HoldfastOptions } from '../../../src/sdk/holdfast-options.ts'
import type { FunctionEndpointInput } from '../../../src/transports/function/description.ts'
import type { Handler } from '../../../src/transports/function/handler.ts'
import { createTestDatabase, type TestDatabase } from '../test-database.ts'
import { AttemptLog } from './attempt-log.ts'
import { until } from './until.ts'

export interface RunningNode {
  readonly holdfast: Holdfast
  readonly log: AttemptLog
  /** What the node warned of or stumbled over. */
  readonly complaints: string[]
}

/** The engine's own safety nets (the slow poll and the sweeper's second look) stay out of the way: what is missed shall be seen. */
export const withoutSafetyNets: Partial<NodeLimits> = { slowPollMs: 600_000, sweepMs: 600_000 }

/** A database of its own, and as many in-process nodes on it as a test wants. */
export class Rig {
  readonly database: TestDatabase
  readonly #nodes: Holdfast[] = []
  /** The endpoint of each node whose circuit `heard` flips. */
  readonly #bells = new Map<RunningNode, string>()

  private constructor(database: TestDatabase) {
    this.database = database
  }

  static async create(): Promise<Rig> {
    return Rig.on(await createTestDatabase({ maxConnections: 30 }))
  }

  /** On a database that a test has prepared; the rig drops it. */
  static on(database: TestDatabase): Rig {
    return new Rig(database)
  }

  /** A client that sends and manages but delivers nothing. */
  client(options: Partial<HoldfastOptions> = {}): Holdfast {
    const holdfast = new Holdfast({
      databaseUrl: this.database.url,
      maxConnections: 4,
      // Receivers of tests stand on this machine.
      allowNetworks: loopbackNetworks,
      ...options,
    })
    this.#nodes.push(holdfast)
    return holdfast
  }

  async start(options: Partial<HoldfastOptions> = {}): Promise<RunningNode> {
    const log = new AttemptLog()
    const complaints: string[] = []
    const note = (details: object, message: string) =>
      complaints.push(`${message} ${JSON.stringify(details)}`)
    const logger: Logger = { debug() {}, info() {}, warn: note, error: note }
    const holdfast = this.client({ observer: log, logger, ...options })
    await holdfast.start()
    return { holdfast, log, complaints }
  }

  /** Pauses an endpoint and waits until its node knows: what is sent from then on stays where it is. */
  async pause(node: RunningNode, name: string, reason?: string): Promise<void> {
    await node.holdfast.endpoints.pause(name, reason)
    await this.heard(node)
  }

  /**
   * Resolves when the node knows of every change to an endpoint that is committed. It hears of them in the order of their commits, and tells its
   * observer of circuits only: once it has heard that another circuit flipped, it has heard of all before.
   */
  async heard(node: RunningNode): Promise<void> {
    const bell = this.#bells.get(node) ?? (await this.#hangBell(node))
    const state = node.log.circuits.get(bell) === 'open' ? 'closed' : 'open'
    await this.rows(
      `with flipped as (
         insert into holdfast_internal.breakers (lane_id, state, probe_at) select id, $2, now() + interval '1 day' from holdfast_internal.endpoints where name = $1
         on conflict (lane_id) do update set state = $2, version = breakers.version + 1, changed_xid = pg_current_xact_id()
         returning lane_id)
       select pg_notify('holdfast_lanes', lane_id::text) from flipped`,
      [bell, state],
    )
    await node.log.waitUntil(
      () => node.log.circuits.get(bell) === state,
      () => `the node to hear of a circuit that is ${state}`,
    )
  }

  /** A lane is known to its node when it has delivered. */
  async #hangBell(node: RunningNode): Promise<string> {
    const bell = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.send(bell, 'known')
    await node.log.waitForAttempts(bell, 1)
    await this.whenSettled(bell)
    this.#bells.set(node, bell)
    return bell
  }

  async rows<Row = Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.database.pool.query(text, [...values])).rows as Row[]
  }

  async value<Value>(text: string, values: readonly unknown[] = []): Promise<Value> {
    const [row] = await this.rows<Record<string, Value>>(text, values)
    return Object.values(row ?? {})[0] as Value
  }

  async count(table: string): Promise<number> {
    return Number(await this.value(`select count(*) from holdfast_internal.${table}`))
  }

  async owed(endpoint: string): Promise<number> {
    return Number(
      await this.value(
        `select count(*) from holdfast_internal.deliveries as owed join holdfast_internal.endpoints as endpoint on endpoint.id = owed.lane_id
         where endpoint.name = $1`,
        [endpoint],
      ),
    )
  }

  async laneId(endpoint: string): Promise<number> {
    return this.value<number>('select id from holdfast_internal.endpoints where name = $1', [endpoint])
  }

  /** Resolves when nothing is owed to the endpoint any more. */
  async whenSettled(endpoint: string, timeoutMs = 10_000): Promise<void> {
    await until(
      `nothing to be owed to ${endpoint}`,
      () => this.owed(endpoint),
      (owed) => owed === 0,
      timeoutMs,
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()))
    await this.database.drop()
  }
}

let lastName = 0

/** A `function` endpoint of its own for one test, with its handler. */
export async function functionEndpoint(
  holdfast: Holdfast,
  handler: Handler,
  settings: Omit<FunctionEndpointInput, 'name' | 'transport'> = {},
): Promise<string> {
  lastName += 1
  const name = `endpoint-${lastName}`
  holdfast.handle(name, handler)
  await holdfast.endpoints.create({ name, transport: 'function', ...settings })
  return name
}
