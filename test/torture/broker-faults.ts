import type { OwnBroker } from '../support/amqp/own-broker.ts'
import type { BrokerFaultKind, Fault } from './fault-plan.ts'

/** What happens to RabbitMQ. Faults come one after the other. */
export class BrokerFaults {
  readonly #broker: OwnBroker
  #last: Promise<void> = Promise.resolve()

  constructor(broker: OwnBroker) {
    this.#broker = broker
  }

  /** `onStrike` is called when it begins. It is over when the broker answers again. */
  async inflict(
    { lastsMs }: Fault & { readonly kind: BrokerFaultKind },
    onStrike: () => void,
  ): Promise<void> {
    this.#last = this.#last.then(async () => {
      onStrike()
      await this.#broker.kill()
      await new Promise((resolve) => setTimeout(resolve, lastsMs))
      await this.#broker.start()
    })
    await this.#last
  }
}
