import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Note } from '../../parts/note.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { BrokerFigures } from './broker-figures.tsx'
import { BrokerNodes } from './broker-nodes.tsx'
import { BrokerTopology } from './broker-topology.tsx'
import { HandlerCard } from './handler-card.tsx'

export type BrokerStatus = Answer<'broker.status'>

/** Do runs reach the workers that get them over RabbitMQ? */
export function BrokerPage() {
  const broker = useApi('broker.status', {}, { pollMs: 3000 })
  return (
    <>
      <PageTitle title="Broker" hint="workers that get their runs over RabbitMQ" />
      <Loaded of={broker}>
        {(status) => (
          <>
            {status.problems.map(({ subject, message, fix, isSevere }) => (
              <Note key={`${subject} ${message}`} tone={isSevere ? 'bad' : 'warn'} lead={message}>
                {fix}
              </Note>
            ))}
            {status.isConfigured ? (
              <>
                <BrokerFigures status={status} />
                <BrokerNodes nodes={status.nodes} />
                <BrokerTopology status={status} />
                <HandlerCard counts={status.deadLetters} />
              </>
            ) : (
              <NotConfigured />
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

function NotConfigured() {
  return (
    <div className="card">
      <Empty icon="broker" title="No node uses a broker">
        <p>
          Workers claim their runs from PostgreSQL. To let workers without a database connection get runs over
          RabbitMQ, start every node with its URL:
        </p>
        <CommandBlock>HOLDFAST_AMQP_URL=amqp://user:password@rabbit.example holdfast serve</CommandBlock>
        <p>and the workers with the same:</p>
        <CommandBlock>
          HOLDFAST_AMQP_URL=amqp://user:password@rabbit.example holdfast worker --import ./jobs.js
        </CommandBlock>
      </Empty>
    </div>
  )
}
