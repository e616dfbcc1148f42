import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { EvaluationChild } from './evaluation-child.ts'

const children: EvaluationChild[] = []

/** A child that has answered once, and the ids of its processes. */
async function readyChild(): Promise<{ child: EvaluationChild; pids: number[] }> {
  const others = childPids()
  const child = new EvaluationChild()
  children.push(child)
  await child.run(request('1'), 10_000)
  return { child, pids: childPids().filter((pid) => !others.includes(pid)) }
}

function request(expression: string) {
  return { expression, timeoutMs: 100, turnMs: 25, items: [{ payload: '{}', variables: {} }] }
}

function childPids(): number[] {
  const file = `/proc/${process.pid}/task/${process.pid}/children`
  return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill()
})

describe.skipIf(process.platform !== 'linux')('a process that evaluates', { timeout: 30_000 }, () => {
  it('is not stopped for the time in which it had no processor', async () => {
    const { child, pids } = await readyChild()
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    const answered = child.run(request('1 + 1'), 100)
    // Several times what the request may take.
    setTimeout(() => pids.forEach((pid) => process.kill(pid, 'SIGCONT')), 450)
    expect(await answered).toEqual({ kind: 'evaluated', evaluations: [{ json: '2' }] })
  })

  it('that gets no processor at all is given up, and its message may be tried again', async () => {
    const { child, pids } = await readyChild()
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    expect(await child.run(request('1'), 20)).toEqual({
      kind: 'unavailable',
      reason: 'the machine is too busy',
    })
  })

  it('is stopped when it used up its time', async () => {
    const { child } = await readyChild()
    const endless = '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)'
    expect(await child.run(request(endless), 100)).toEqual({ kind: 'killed' })
  })
})
