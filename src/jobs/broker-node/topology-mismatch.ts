import { BrokerError } from '../../amqp/broker-connection.ts'

/** The broker names the first argument that differs, e.g. `inequivalent arg 'x-message-ttl' for queue 'a' in vhost '/': received '1' but current is '2'`. */
const inequivalent =
  /inequivalent arg '([^']+)' for (queue|exchange) '([^']*)'.*?: received (.+?) but current is ([^"]+)/s

/** A queue or an exchange exists with other arguments. */
export class TopologyMismatch extends BrokerError {
  /** One sentence about the difference. */
  readonly problem: string
  readonly fix: string

  constructor(problem: string, fix: string) {
    super('topology_mismatch', `${problem} ${fix}`)
    this.problem = problem
    this.fix = fix
  }
}

/** Returns an error that says how to fix a queue or an exchange with other arguments; returns other errors unchanged. */
export function explainMismatch(error: unknown): unknown {
  const text = error instanceof Error ? error.message : String(error)
  const found = inequivalent.exec(text)
  if (found === null) return error
  const [, argument, kind, name, wanted, current] = found
  const fix =
    kind === 'queue'
      ? `Let its messages be consumed, then delete the queue (rabbitmqctl delete_queue ${name}); Holdfast declares it again`
      : 'Delete the exchange when nothing publishes to it; Holdfast declares it again'
  return new TopologyMismatch(
    `The ${kind} "${name}" exists with another ${argument}: ${current} instead of ${wanted}.`,
    `${fix}. Or choose another prefix with HOLDFAST_BROKER_PREFIX.`,
  )
}
