import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import { NodeProcess } from '../support/processes/node-process.ts'
import type { NodeSettings } from '../support/processes/node-settings.ts'
import type { BrokerFaults } from './broker-faults.ts'
import type { DatabaseFaults } from './database-faults.ts'
import type { BrokerFaultKind, DatabaseFaultKind, Fault, NodeFaultKind } from './fault-plan.ts'
import type { NodeLife } from './node-history.ts'
import type { PublishedMessage } from './publishers.ts'
import { plainEndpoints } from './receivers.ts'
import { leaksIn } from './secrets.ts'
import type { SeededRandom } from './seeded-random.ts'

interface Slot {
  readonly name: string
  readonly proxy: CuttingProxy
  node: NodeProcess | null
  /** Set while a fault keeps the node down or still. */
  isDown: boolean
  isFrozen: boolean
}

/** A fault that did strike, with the time in which it lasted. */
export interface StruckFault {
  readonly kind: Fault['kind']
  /** The node that it hit; null: the database or the broker, and so everybody. */
  readonly node: string | null
  readonly fromMs: number
  untilMs: number
}

/** What the fleet went through, for the report. */
export interface FleetLog {
  readonly struck: StruckFault[]
  /** Every process that there ever was, once it has ended. */
  readonly lives: NodeLife[]
  /** Ends that nobody asked for. */
  readonly crashes: string[]
  /** Secrets that a node wrote to its log. */
  readonly leaks: string[]
  /** Stops that took too long or ended with an error. */
  readonly badStops: string[]
  stops: number
  starts: number
}

const databaseFaults: ReadonlySet<string> = new Set<DatabaseFaultKind>([
  'restart-database',
  'crash-database',
  'kill-backend',
  'step-clock',
  'promote-standby',
])

const isDatabaseFault = (fault: Fault): fault is Fault & { readonly kind: DatabaseFaultKind } =>
  databaseFaults.has(fault.kind)

const isBrokerFault = (fault: Fault): fault is Fault & { readonly kind: BrokerFaultKind } =>
  fault.kind === 'kill-broker'

const stopDeadlineMs = 40_000
const restartPauseMs = 500
const startDeadlineMs = 60_000
const ownMessageMs = 40

export interface FleetOptions {
  readonly databaseUrl: string
  readonly databaseFaults: DatabaseFaults
  /** Null: nodes are not in broker mode. */
  readonly broker: {
    readonly settings: NodeSettings['broker'] & object
    readonly faults: BrokerFaults
  } | null
  readonly random: SeededRandom
  /** What its nodes publish themselves goes in here, once they have ended. */
  readonly accepted: Map<string, PublishedMessage>
}

/** Nodes in processes of their own, each behind its own proxy to the database, and the faults that befall them. */
export class Fleet {
  readonly log: FleetLog = {
    struck: [],
    lives: [],
    crashes: [],
    leaks: [],
    badStops: [],
    stops: 0,
    starts: 0,
  }
  readonly #options: FleetOptions
  readonly #slots: Slot[] = []
  readonly #tending: Promise<void>[] = []
  #isHealed = false
  #isOver = false

  constructor(options: FleetOptions) {
    this.#options = options
  }

  async start(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const proxy = await CuttingProxy.start(this.#options.databaseUrl)
      const slot: Slot = { name: `node-${index}`, proxy, node: null, isDown: false, isFrozen: false }
      this.#slots.push(slot)
      this.#tending.push(this.#tend(slot))
    }
    await Promise.all(this.nodes.map((node) => node.waitFor('started', () => true, startDeadlineMs)))
  }

  get nodes(): readonly NodeProcess[] {
    return this.#slots.flatMap(({ node }) => (node === null ? [] : [node]))
  }

  /** Carries the fault out, on the node that it names or, while that one is down, on the next that isn't. */
  async inflict(fault: Fault): Promise<void> {
    const { databaseFaults, broker } = this.#options
    if (isDatabaseFault(fault) || isBrokerFault(fault)) {
      let entry: StruckFault | null = null
      const onStrike = () => {
        entry = this.#note(fault.kind, null)
      }
      if (isDatabaseFault(fault)) await databaseFaults.inflict(fault, onStrike)
      else await broker?.faults.inflict(fault, onStrike)
      if (entry !== null) endNow(entry)
      return
    }
    let slot = this.#slotFor(fault)
    while (slot === null) {
      await pause(50)
      slot = this.#slotFor(fault)
    }
    const entry = this.#note(fault.kind, slot.name)
    try {
      await this.#hitNode(slot, fault.kind as NodeFaultKind, fault.lastsMs)
    } finally {
      endNow(entry)
    }
  }

  #note(kind: Fault['kind'], node: string | null): StruckFault {
    const entry = { kind, node, fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY }
    this.log.struck.push(entry)
    return entry
  }

  #slotFor({ node }: Fault): Slot | null {
    const inTurn = [...this.#slots.slice(node), ...this.#slots.slice(0, node)]
    return inTurn.find((slot) => slot.node?.isRunning === true && !slot.isDown && !slot.isFrozen) ?? null
  }

  /** Everything runs again, and the nodes publish nothing more themselves. */
  heal(): void {
    this.#isHealed = true
    for (const slot of this.#slots) {
      slot.node?.quieten()
      slot.proxy.delayBy(0)
      slot.proxy.carry()
      slot.node?.thaw()
      slot.isDown = false
    }
  }

  /** Ends all of them by a stop signal. Safe to call twice. */
  async stop(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await Promise.all(this.#slots.map(async ({ name, node }) => this.#stopCleanly(name, node)))
    for (const { node } of this.#slots) node?.kill()
    await Promise.all(this.#tending)
    for (const { proxy } of this.#slots) await proxy.stop()
  }

  /** Keeps the slot's node running, except while a fault wants it down. */
  async #tend(slot: Slot): Promise<void> {
    const { databaseFaults, broker } = this.#options
    while (!this.#isOver) {
      if (slot.isDown || databaseFaults.isDown) {
        await pause(50)
        continue
      }
      const node = NodeProcess.launch({
        databaseUrl: slot.proxy.url,
        name: slot.name,
        ...(broker !== null && { broker: broker.settings }),
        ...(!this.#isHealed && { sends: { endpoints: plainEndpoints, everyMs: ownMessageMs } }),
      })
      slot.node = node
      this.log.starts += 1
      const exit = await node.exited
      const said = [JSON.stringify(node.signals), JSON.stringify(node.logLines), node.describe()]
      this.log.leaks.push(...leaksIn(`the log of ${slot.name}`, said))
      this.#enter(node)
      const hasStarted = node.signals.some(({ event }) => event === 'started')
      this.log.lives.push({
        name: slot.name,
        signals: node.signals.filter(({ event }) => event !== 'sent'),
        lostAtMs: node.logLines.flatMap((line) =>
          line.event === 'log' && line.message === 'Shards were taken from this node' ? [line.atMs] : [],
        ),
        endedAtMs: performance.now(),
        isCleanEnd: exit.code === 0,
      })
      const isWanted = exit.signal === 'SIGKILL' || node.signals.some(({ event }) => event === 'stopping')
      // Before it has started it may give up on a database that is away; afterwards it must not.
      if (!isWanted && hasStarted && !this.#isOver) {
        this.log.crashes.push(`${slot.name} ended by itself: ${node.describe()}`)
      }
      await pause(restartPauseMs)
    }
  }

  #enter(node: NodeProcess): void {
    for (const signal of node.signals) {
      if (signal.event !== 'sent') continue
      const { id, endpoint, payload, atMs } = signal
      const plain = { key: null, mayExpire: false, isDelayed: false, isPlain: true }
      this.#options.accepted.set(id, { id, endpoint, payload, ...plain, acceptedAtMs: atMs })
    }
  }

  async #hitNode(slot: Slot, kind: NodeFaultKind, lastsMs: number): Promise<void> {
    const { node, proxy } = slot
    if (node === null) return
    switch (kind) {
      case 'kill':
        slot.isDown = true
        node.kill()
        await pause(lastsMs)
        slot.isDown = false
        return
      case 'terminate':
        await this.#terminate(slot, node, lastsMs)
        return
      case 'freeze':
        slot.isFrozen = true
        node.freeze()
        await pause(lastsMs)
        if (node.isRunning) node.thaw()
        slot.isFrozen = false
        return
      case 'cut':
        proxy.cutSome(() => this.#options.random.chance(0.6))
        return
      case 'black-hole':
        proxy.swallow()
        await pause(lastsMs)
        proxy.carry()
        return
      case 'stall-connection': {
        const release = proxy.stallOne((count) => this.#options.random.between(0, count))
        await pause(lastsMs)
        release?.()
        return
      }
      case 'delay':
        proxy.delayBy(20)
        await pause(lastsMs)
        proxy.delayBy(0)
        return
    }
  }

  async #terminate(slot: Slot, node: NodeProcess, downMs: number): Promise<void> {
    slot.isDown = true
    await this.#stopCleanly(slot.name, node)
    await pause(downMs)
    slot.isDown = false
  }

  async #stopCleanly(name: string, node: NodeProcess | null): Promise<void> {
    if (node === null || !node.isRunning || !node.signals.some(({ event }) => event === 'started')) return
    node.terminate()
    const timer = setTimeout(() => {
      this.log.badStops.push(`${name} didn't stop within ${stopDeadlineMs} ms: ${node.describe()}`)
      node.kill()
    }, stopDeadlineMs)
    const exit = await node.exited
    clearTimeout(timer)
    this.log.stops += 1
    if (exit.code !== 0 && exit.signal === null) {
      this.log.badStops.push(`${name} stopped with exit code ${exit.code}: ${node.describe()}`)
    }
  }
}

function endNow(entry: StruckFault): void {
  entry.untilMs = performance.now()
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
