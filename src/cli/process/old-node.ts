/**
 * What to say on a Node.js that is too old; null on one that isn't. It is asked before anything is loaded that an old Node.js can't load.
 *
 * @example problemOfNode('18.20.8', '20.19') // 'Holdfast needs Node.js 20.19 or newer, …'
 */
export function problemOfNode(running: string, oldest: string): string | null {
  const [major = 0, minor = 0] = running.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return null
  return `Holdfast needs Node.js ${oldest} or newer, and this is ${running}. Install a newer one: https://nodejs.org/en/download`
}
