import { statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Finding, fail, ok, warn } from '../../sdk/checks/check.ts'

const mebibyte = 1024 * 1024
const gibibyte = 1024 * mebibyte
const failBelowBytes = 256 * mebibyte
const warnBelowBytes = 2 * gibibyte

/** This process can see only the disk of the embedded server. */
export async function checkDisk(dataDir: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(resolve(dataDir))
  const free = bavail * bsize
  const message = `${(free / gibibyte).toFixed(1)} GiB free for ${dataDir}`
  const advice = 'Free some space, or move the data: with a full disk, new messages are rejected.'
  if (free < failBelowBytes) return fail('disk', message, advice)
  return free < warnBelowBytes ? warn('disk', message, advice) : ok('disk', message)
}
