// Publishes over HTTP from its own process, so that the client doesn't limit the server's rate. Its parent's message says what to publish.
import { Pool } from 'undici'

process.once('message', (load) => void run(load))

async function run({ url, key, path, bodies, warmUp, connections }) {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const send = async (from, to) => {
    let next = from
    const loop = async () => {
      while (next < to) {
        const body = bodies[next++ % bodies.length]
        const answer = await pool.request({ method: 'POST', path, headers, body })
        const text = await answer.body.text()
        if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${text.slice(0, 300)}`)
      }
    }
    await Promise.all(Array.from({ length: connections }, loop))
  }
  try {
    await send(0, warmUp)
    const startedMs = performance.now()
    await send(warmUp, bodies.length)
    process.send({ elapsedMs: performance.now() - startedMs })
  } catch (error) {
    process.send({ error: String(error) })
  }
  await pool.close()
  process.disconnect()
}
