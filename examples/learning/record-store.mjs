import { createServer } from 'node:http'

/** A record store as real ones behave: a batch is taken whole or not at all, and what is there already is answered with 409. */
export async function startRecordStore({ refuses = () => false } = {}) {
  const statements = new Map()
  const store = {
    statements,
    isDown: false,
    url: '',
    close: () => new Promise((resolve) => server.close(resolve)),
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    response.writeHead(judge(request, body)).end('[]')
  })

  function judge(request, body) {
    if (store.isDown) return 503
    if (request.headers['x-experience-api-version'] === undefined) return 400
    const given = JSON.parse(body)
    if (given.some(refuses)) return 400
    if (given.some(({ id }) => statements.has(id))) return 409
    for (const statement of given) statements.set(statement.id, statement)
    return 200
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  store.url = `http://127.0.0.1:${server.address().port}/xapi/statements`
  return store
}
