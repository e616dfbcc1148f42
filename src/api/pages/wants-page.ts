import type { FastifyRequest } from 'fastify'

/** Whether a browser requests a page; the API itself always responds with JSON. */
export function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !/^\/v1(?:[/?]|$)/.test(url) && (headers.accept ?? '').includes('text/html')
}
