import { once } from 'node:events'
import { createServer } from 'node:net'
import { HoldfastError } from '../core/errors.ts'

/** Fails as the API server would at its start, so that nothing else is started if the server can't listen. */
export async function assertCanListen(host: string, port: number): Promise<void> {
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, host, port)
  }
  server.close()
  await once(server, 'close')
}

export function listenError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  if (error.code === 'EADDRINUSE') {
    return new HoldfastError(
      'configuration_invalid',
      `Port ${port} on ${host} is in use by another process. Stop it, or choose another with HOLDFAST_PORT.`,
      { host, port },
      error,
    )
  }
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new HoldfastError(
      'configuration_invalid',
      `Can't listen on ${host} port ${port} (${error.code}). Choose others with HOLDFAST_HOST and HOLDFAST_PORT.`,
      { host, port },
      error,
    )
  }
  return error
}
