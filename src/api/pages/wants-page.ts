import type { FastifyRequest } from 'fastify'

/** Whether a person looks with a browser; the API itself answers with JSON to everybody. */
export function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !/^\/v1(?:[/?]|$)/.test(url) && (headers.accept ?? '').includes('text/html')
}
