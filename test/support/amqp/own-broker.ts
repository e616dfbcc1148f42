import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from 'amqplib'

const folderOfPrograms = '/usr/lib/rabbitmq/bin'
const program = join(folderOfPrograms, 'rabbitmq-server')
const startWithinMs = 60_000
const stopWithinMs = 20_000
/** Members of a cluster, and its commands, know each other by it. */
const cookie = 'HOLDFASTTESTS'

/** Whether this machine has a RabbitMQ that a test can start for itself. */
export const hasOwnBroker = existsSync(program)

/** A RabbitMQ of a test's own, which may be ended and started again: its node name, ports and folder are its own. */
export class OwnBroker {
  readonly #folder: string
  readonly #port: number
  readonly #distPort: number
  readonly #node = `holdfast-test-${randomBytes(4).toString('hex')}@localhost`
  readonly #onExit = () => this.#signal('SIGKILL')
  #child: ChildProcess | null = null

  private constructor(folder: string, port: number, distPort: number) {
    this.#folder = folder
    this.#port = port
    this.#distPort = distPort
  }

  static async create(): Promise<OwnBroker> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-broker-'))
    const broker = new OwnBroker(folder, await freePort(), await freePort())
    process.once('exit', broker.#onExit)
    await broker.start()
    return broker
  }

  /** Brokers that know each other; each queue has a member on all of them. */
  static async createCluster(size: number): Promise<readonly OwnBroker[]> {
    const brokers = await Promise.all(Array.from({ length: size }, () => OwnBroker.create()))
    const [first, ...others] = brokers
    if (first === undefined) return []
    for (const other of others) {
      await other.control('stop_app')
      await other.control('join_cluster', first.#node)
      await other.control('start_app')
    }
    return brokers
  }

  get url(): string {
    return `amqp://${this.host}`
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const child = spawn(program, [], {
      // A group of its own, so that the shell script and the server behind it end together.
      detached: true,
      // What it dumps when it is killed stays there.
      cwd: this.#folder,
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        HOME: this.#folder,
        RABBITMQ_ERLANG_COOKIE: cookie,
        RABBITMQ_NODENAME: this.#node,
        RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
        RABBITMQ_NODE_PORT: String(this.#port),
        RABBITMQ_DIST_PORT: String(this.#distPort),
        RABBITMQ_MNESIA_BASE: join(this.#folder, 'data'),
        RABBITMQ_LOG_BASE: join(this.#folder, 'log'),
        RABBITMQ_PID_FILE: join(this.#folder, 'pid'),
        RABBITMQ_CONF_ENV_FILE: '/dev/null',
        RABBITMQ_CONFIG_FILE: join(this.#folder, 'own'),
        RABBITMQ_ENABLED_PLUGINS_FILE: join(this.#folder, 'plugins'),
        RABBITMQ_SERVER_START_ARGS: '-kernel net_ticktime 60',
      },
    })
    this.#child = child
    const deadlineMs = performance.now() + startWithinMs
    while (!(await this.#answers())) {
      if (child.exitCode !== null)
        throw new Error(`the broker ended with ${child.exitCode}; see ${this.#folder}/log`)
      if (performance.now() > deadlineMs)
        throw new Error(`no broker after ${startWithinMs} ms; see ${this.#folder}/log`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  /** Ends it: it closes its connections and stops; one that doesn't is killed. */
  async end(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    this.#signal('SIGTERM')
    const timer = setTimeout(() => this.#signal('SIGKILL'), stopWithinMs)
    await exited
    clearTimeout(timer)
    this.#child = null
  }

  /** Like a machine that loses its power: nothing is closed or written. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    this.#signal('SIGKILL')
    await exited
    this.#child = null
  }

  /** Runs a command of rabbitmqctl on it, and returns what it says. */
  async control(...args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(
      join(folderOfPrograms, 'rabbitmqctl'),
      ['-q', '-n', this.#node, ...args],
      {
        // What it dumps when it is killed stays there.
        cwd: this.#folder,
        env: {
          PATH: process.env['PATH'],
          HOME: this.#folder,
          RABBITMQ_ERLANG_COOKIE: cookie,
          RABBITMQ_CONF_ENV_FILE: '/dev/null',
        },
      },
    )
    return stdout
  }

  async stop(): Promise<void> {
    await this.kill()
    process.off('exit', this.#onExit)
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }

  /** To the shell script and the server behind it, unless they have ended. */
  #signal(signal: NodeJS.Signals): void {
    const child = this.#child
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    process.kill(-child.pid, signal)
  }

  /** The port opens before the broker lets anybody in. */
  async #answers(): Promise<boolean> {
    try {
      const connection = await connect(this.url)
      await connection.close()
      return true
    } catch {
      return false
    }
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
