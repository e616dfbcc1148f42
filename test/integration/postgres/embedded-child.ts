// Starts an embedded server and holds it, so that a test can kill the process that supervises one.
import { startEmbeddedPostgres } from '../../../src/postgres/embedded/start-embedded-postgres.ts'

process.on('SIGINT', () => {})
const server = await startEmbeddedPostgres({ dataDir: process.argv[2]! })
console.log(JSON.stringify({ connectionString: server.connectionString, serverPid: server.pid }))
setInterval(() => {}, 60_000)
