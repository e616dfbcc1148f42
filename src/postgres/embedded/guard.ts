import { spawn } from 'node:child_process'
import type { ServerUser } from './server-user.ts'

/**
 * The server's parent: a shell with a pipe to this process. The pipe closes when we stop the server AND when this process dies, even by kill
 * -9. Both have the same effect: fast shutdown, then immediate, then kill. The shell starts the server itself, so the server is never
 * unguarded. The watching process is separate and survives if its parent is killed.
 */
const guardScript = `
fast_seconds=$1
immediate_seconds=$2
shift 2
exec 3<&0
"$@" </dev/null >&2 3<&- &
server=$!
(
  wait_for_end() {
    waited=0
    while [ "$waited" -lt "$(($1 * 10))" ]; do
      kill -0 "$server" 2>/dev/null || exit 0
      sleep 0.1 2>/dev/null || sleep 1
      waited=$((waited + 1))
    done
  }
  trap '' INT HUP TERM
  read -r _
  kill -INT "$server" 2>/dev/null || exit 0
  wait_for_end "$fast_seconds"
  kill -QUIT "$server" 2>/dev/null || exit 0
  wait_for_end "$immediate_seconds"
  kill -KILL "$server" 2>/dev/null
) <&3 >/dev/null 2>&1 &
watch=$!
exec 3<&-
echo "$server"
exec >&2
trap '' INT HUP TERM
wait "$server"
status=$?
kill -KILL "$watch" 2>/dev/null
exit "$status"
`

/** Longer than the 5 s after which an immediate shutdown kills the server's own stuck processes. */
const immediateShutdownSeconds = 8

export interface GuardedServer {
  /** The server's process id, or null if it couldn't be started. */
  readonly pid: Promise<number | null>
  readonly exitCode: Promise<number | null>
  hasEnded(): boolean
  /** Requests the shutdown; `exitCode` resolves when it is done. */
  release(): void
}

export interface GuardOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly user: ServerUser | null
  readonly logFd: number
  readonly fastShutdownSeconds: number
}

export function spawnGuarded(options: GuardOptions): GuardedServer {
  const guardArgs = [
    '-c',
    guardScript,
    'holdfast-postgres-guard',
    String(options.fastShutdownSeconds),
    String(immediateShutdownSeconds),
    options.command,
    ...options.args,
  ]
  const child = spawn('/bin/sh', guardArgs, {
    cwd: options.cwd,
    // Its own process group: Ctrl-C in a terminal signals the whole group, and the server must outlive our graceful stop.
    detached: true,
    stdio: ['pipe', 'pipe', options.logFd],
    env: serverEnvironment(),
    ...options.user,
  })
  child.stdin?.on('error', () => {})
  const exitCode = new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('exit', (code) => resolve(code))
  })
  const pid = new Promise<number | null>((resolve) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(Number.parseInt(text, 10))
    })
    void exitCode.then(() => resolve(null))
  })
  return {
    pid,
    exitCode,
    hasEnded: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    release: () => void child.stdin?.destroy(),
  }
}

/** Only the variables that the server needs: our environment may contain keys, and PG* variables would change its behaviour. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
