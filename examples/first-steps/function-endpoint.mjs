// An endpoint that is a function of this process. Run it where no other node works on the same database:
// every node must know the handlers of the endpoints that it may come to own.
//   HOLDFAST_DATABASE_URL=postgres://… node examples/first-steps/function-endpoint.mjs
import { Holdfast, PermanentError } from 'holdfast'

let open = 2
let finish
const finished = new Promise((resolve) => (finish = resolve))
const name = `example-mailer-${process.pid}`

const holdfast = new Holdfast({
  databaseUrl: process.env.HOLDFAST_DATABASE_URL,
  handlers: {
    [name]: ({ payload, attempt }) => {
      if (!payload.to.includes('@')) {
        if (--open === 0) finish()
        throw new PermanentError(`${payload.to} is no address`)
      }
      if (attempt === 1) throw new Error('the mail server is busy')
      console.log(`mailed ${payload.to} on attempt ${attempt}`)
      if (--open === 0) finish()
    },
  },
})
await holdfast.migrate()
await holdfast.endpoints.create({
  name,
  transport: 'function',
  retry: { strategy: 'fixed', baseDelayMs: 200, jitter: 'none' },
})
await holdfast.start()

await holdfast.sendBatch(name, [{ payload: { to: 'ada@example.com' } }, { payload: { to: 'nowhere' } }])
await finished
await holdfast.stop()

const reader = new Holdfast({ databaseUrl: process.env.HOLDFAST_DATABASE_URL })
const { deadLetters } = await reader.endpoints.health(name)
console.log(`dead letters: ${deadLetters}`)
await reader.stop()
