import type { TopologyOptions } from '../broker/topology.ts'
import type { NodeLimits } from '../engine/limits.ts'
import type { Logger } from '../engine/logger.ts'
import type { NodeObserver } from '../engine/observer.ts'
import type { MaintenanceTask } from '../engine/upkeep/upkeep-task.ts'
import type { Handler } from '../transports/function/handler.ts'
import type { LazyTransport } from '../transports/registry.ts'
import type { Transport } from '../transports/transport.ts'
import type { CriticalResend, SettingValues } from './option-pins.ts'
import type { PublishLineLimits } from './publish-line.ts'

/** The RabbitMQ of broker mode. Every node of an installation has the same options. */
export interface BrokerOptions {
  /** Like `amqps://user:password@rabbit.example:5671/vhost`. */
  readonly url: string
  /** False: this node doesn't use the broker. Default: true. */
  readonly isEnabled?: boolean
  /** Overrides of the default names and limits. */
  readonly topology?: Partial<TopologyOptions>
}

export interface HoldfastOptions {
  /**
   * A PostgreSQL 15 or newer, e.g. `postgres://user:password@host/database`. With a standby, name both hosts,
   * `postgres://user:password@host1,host2/database`: the one that accepts writes is used. Undefined is refused, so that an environment variable
   * can be passed directly.
   */
  readonly databaseUrl: string | undefined
  /** Handlers of `function` endpoints, by endpoint name (or by the endpoint's `config.handler`). */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** Custom transports, each with a hyphen in its name: docs/transports.md. Every process that creates or serves their endpoints needs them. */
  readonly transports?: readonly (Transport | LazyTransport)[]
  /** The name of this process in the list of nodes. */
  readonly nodeName?: string
  /** True if no other process can run under this name, so that an earlier one is certainly dead. */
  readonly isNameExclusive?: boolean
  /**
   * Connections for sending and for queries; a started node has eight more of its own, one that listens, and two while it leads. Broker mode adds
   * four, and one that listens.
   */
  readonly maxConnections?: number
  readonly limits?: Partial<NodeLimits>
  /** How events that are published at the same time are stored together. The defaults were measured and need no change. */
  readonly publishLine?: PublishLineLimits
  readonly logger?: Logger
  readonly observer?: Partial<NodeObserver>
  /** Endpoints with their own series on the metrics page: the listed ones, and the `topEndpoints` with the most pending deliveries. */
  readonly metrics?: { readonly endpoints?: readonly string[]; readonly topEndpoints?: number }
  /** False: no endpoint statistics are kept, and the failure-rate alert doesn't work. */
  readonly keepsStatistics?: boolean
  /** Broker mode: workers get their runs over this RabbitMQ (docs/broker.md). Default: no broker. */
  readonly broker?: BrokerOptions
  /** The mail server for alerts by e-mail: `smtp://user:password@host:587` or `smtps://…`. */
  readonly smtpUrl?: string
  /** URL of your copy of docs/runbook.md; alerts link to its sections. */
  readonly runbookUrl?: string
  /** A folder on the database's disk, if this process can see it: then an alert fires when the disk fills up. */
  readonly diskPath?: string
  /** Periodic tasks that one node of the cluster runs, in addition to Holdfast's own. */
  readonly maintenanceTasks?: readonly MaintenanceTask[]
  /**
   * Installation-wide settings that this process pins while it delivers: they can't be changed elsewhere, and apply to all nodes, workers and publishers.
   */
  readonly settings?: SettingValues
  /** The source of `settings`, for the error message when somebody tries to change one elsewhere. @internal */
  readonly settingSources?: Readonly<Record<string, string>>
  /** Pins the settings for redelivering critical dead letters, by default daily at 03:00 UTC; `false`: never. */
  readonly criticalResend?: CriticalResend | false
  /** The author of changes, in the audit log. */
  readonly actor?: string
  /** Non-public networks that endpoints may be in, like `['10.1.0.0/16']`. Default: none, not even loopback. */
  readonly allowNetworks?: readonly string[]
  /** `usual` (default: all but the usual ports of other protocols), `any`, or ports like `80,443,8000-8999`. */
  readonly allowPorts?: string
  /** A forward proxy for every outbound connection, like `http://proxy.example:3128`. The proxy resolves host names: see docs/network.md. */
  readonly proxyUrl?: string
  /** False: allows endpoints that this process may not reach, because other processes deliver. Default: true. */
  readonly judgesTargets?: boolean
  /**
   * The keyring that encrypts endpoints' secrets; the same for every node and client. If omitted, the environment variable HOLDFAST_ENCRYPTION_KEY is
   * used; null: no keyring.
   */
  readonly encryptionKey?: string | null
}
