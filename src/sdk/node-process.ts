import { hostname } from 'node:os'
import { defaultTopology } from '../broker/topology.ts'
import type { SettingPin } from '../core/settings/setting-pin.ts'
import { silentLogger } from '../engine/logger.ts'
import { Node } from '../engine/node.ts'
import type { NodeObserver } from '../engine/observer.ts'
import type { PublishMapped } from '../engine/sources/source-intake.ts'
import { SourceRunner } from '../engine/sources/source-runner.ts'
import type { BrokerNode, BrokerNodeOptions } from '../jobs/broker-node/broker-node.ts'
import { Keeper } from '../jobs/keeper.ts'
import { closePool } from '../postgres/pool.ts'
import type { SessionSupport } from '../postgres/self-test.ts'
import type { SourceRegistry } from '../sources/registry.ts'
import type { Database } from '../storage/database.ts'
import type { RecoveredRuns } from '../storage/workers.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import { version } from '../version.ts'
import type { HoldfastOptions } from './holdfast-options.ts'
import { openDatabase } from './open-database.ts'

const closeDeadlineMs = 5000
/** One to read, two to settle, one for careful mode and probes. */
const workConnections = 4
const controlConnections = 2
/** Opened by the leading node only. */
const maintenanceConnections = 2
/** For broker mode: one to dispatch, one to store results, one to relay heartbeats, one for the rest. */
const brokerConnections = 4

export interface NodeProcessOptions {
  readonly options: HoldfastOptions
  readonly databaseUrl: string
  readonly support: SessionSupport
  readonly transports: TransportRegistry
  readonly transforms: TransformRegistry
  readonly pins: readonly SettingPin[]
  readonly observers: readonly Partial<NodeObserver>[]
  readonly onRecovered: (recovered: RecoveredRuns) => void
  readonly sources: SourceRegistry
  readonly publishMapped: PublishMapped
  readonly brokerEvents: Pick<BrokerNodeOptions, 'onSettled' | 'onDeadLetter' | 'onDispatched'>
  readonly onSourceMessages: (source: string, outcome: 'published' | 'rejected', count: number) => void
}

/** A node with its own connections, and beside it the keeper of runs, the consumers of sources, and broker mode. */
export class NodeProcess {
  readonly node: Node
  readonly #keeper: Keeper
  readonly #sources: SourceRunner
  readonly #openBroker: () => Promise<BrokerNode | null>
  #broker: BrokerNode | null = null
  readonly #databases: Database[] = []

  constructor(settings: NodeProcessOptions) {
    const { options, databaseUrl, support, onRecovered } = settings
    const { logger = silentLogger } = options
    const open = (maxConnections: number, applicationName: string) => {
      const { keepsSessions } = support
      const opened = openDatabase({
        databaseUrl,
        logger: options.logger,
        maxConnections,
        applicationName,
        keepsSessions,
      })
      this.#databases.push(opened)
      return opened
    }
    const name = options.nodeName ?? hostname()
    const control = open(controlConnections, 'holdfast-control')
    this.node = new Node({
      database: open(workConnections, 'holdfast-node'),
      controlDatabase: control,
      beatDatabase: open(1, 'holdfast-beat'),
      maintenanceDatabase: open(maintenanceConnections, 'holdfast-maintenance'),
      operationsDatabase: open(1, 'holdfast-operations'),
      transports: settings.transports,
      transforms: settings.transforms,
      name,
      version,
      listenUrl: support.listens ? databaseUrl : null,
      logger,
      ...(options.isNameExclusive !== undefined && { isNameExclusive: options.isNameExclusive }),
      ...(options.limits !== undefined && { limits: options.limits }),
      isCounting: options.keepsStatistics ?? true,
      ...(options.runbookUrl !== undefined && { runbookUrl: options.runbookUrl }),
      ...(options.diskPath !== undefined && { diskPath: options.diskPath }),
      observers: settings.observers,
      maintenanceTasks: options.maintenanceTasks ?? [],
      pins: settings.pins,
      onSourcesChanged: () => this.#sources.refresh(),
    })
    this.#sources = new SourceRunner({
      database: control,
      sources: settings.sources,
      publish: settings.publishMapped,
      nodeName: name,
      incarnation: () => this.node.incarnation,
      logger,
      onStored: settings.onSourceMessages,
    })
    // Schedules fire, and runs of dead workers are returned, as long as any node or worker is alive.
    this.#keeper = new Keeper({
      database: control,
      logger,
      watchesWorkers: true,
      by: () => this.node.incarnation,
      onRecovered,
    })
    this.#openBroker = async () => {
      const { broker } = options
      if (broker === undefined || broker.isEnabled === false) return null
      const { BrokerNode: Opened } = await import('../jobs/broker-node/broker-node.ts')
      return new Opened({
        database: open(brokerConnections, 'holdfast-broker'),
        listenUrl: support.listens ? databaseUrl : null,
        url: broker.url,
        topology: { ...defaultTopology, ...broker.topology },
        nodeName: name,
        incarnation: () => this.node.incarnation,
        logger,
        onRecovered,
        ...settings.brokerEvents,
      })
    }
  }

  async start(): Promise<void> {
    await this.node.start()
    this.#keeper.start()
    this.#sources.start()
    this.#broker = await this.#openBroker()
    this.#broker?.start()
  }

  /** Also stops after a start that failed half-way. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#broker?.stop()
    await this.#sources.stop()
    await this.#keeper.stop()
    await this.node.stop()
    for (const { pool } of this.#databases.splice(0)) await closePool(pool, closeDeadlineMs)
  }
}
