import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))

/** Starts a receiver on a port; it gets its secret from the environment, as in production. `folder` is for what is compiled. */
export async function startReceiver({ build, command }, { secret, port, folder }) {
  const filled = (words) =>
    words.map((word) => word.replace('{port}', String(port)).replace('{folder}', folder))
  if (build !== undefined) {
    const [compiler, ...args] = filled(build)
    const built = spawnSync(compiler, args, { cwd: here, encoding: 'utf8' })
    if (built.status !== 0) throw new Error(`${compiler} failed: ${built.stderr}`)
  }
  const [program, ...args] = filled(command)
  const receiver = spawn(program, args, {
    cwd: here,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const accepted = new Set()
  const listening = new Promise((resolve, reject) => {
    const read = (line) => {
      if (/^listening|Development Server .* started/.test(line)) resolve()
      const id = /received (msg_\w+)/.exec(line)?.[1]
      if (id !== undefined) accepted.add(id)
    }
    createInterface({ input: receiver.stdout }).on('line', read)
    createInterface({ input: receiver.stderr }).on('line', read)
    receiver.once('exit', (code) => reject(new Error(`${program} ended with ${code}`)))
  })
  await listening
  return {
    /** The ids of messages whose signature it found right. */
    accepted,
    stop: async () => {
      receiver.kill()
      if (receiver.exitCode === null && receiver.signalCode === null) await once(receiver, 'exit')
    },
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
