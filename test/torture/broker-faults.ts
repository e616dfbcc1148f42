import type { OwnBroker } from '../support/amqp/own-broker.ts'
import type { BrokerFaultKind, Fault } from './fault-plan.ts'

const retryPauseMs = 50

/** What happens to RabbitMQ. Faults come one after the other. */
export class BrokerFaults {
  readonly #broker: OwnBroker
  #isDown = false

  constructor(broker: OwnBroker) {
    this.#broker = broker
  }

  /** While another fault keeps the broker away, this one waits. `onStrike` is called when it begins; it is over when the broker answers again. */
  async inflict(
    { lastsMs }: Fault & { readonly kind: BrokerFaultKind },
    onStrike: () => void,
  ): Promise<void> {
    while (this.#isDown) await pause(retryPauseMs)
    this.#isDown = true
    onStrike()
    try {
      await this.#broker.kill()
      await pause(lastsMs)
      await this.#broker.start()
    } finally {
      this.#isDown = false
    }
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
