// Adds what package-lock.json lacks of other platforms' optional packages. A registry that doesn't carry them makes npm leave them out
// of the lock, and `npm ci` then refuses it everywhere.
import { readFileSync, writeFileSync } from 'node:fs'

const path = new URL(process.argv[2] ?? '../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8'))
const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
/** npm's word for the C library that a Linux package was built for. */
const libraries = { musl: 'musl', gnu: 'glibc' }
const processors = [
  'arm64',
  'arm',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'x64',
  'wasm32',
]

let added = 0
for (const entry of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`
    if (lock.packages[place] !== undefined) continue
    const words = name.split(/[/-]/)
    const os = systems.filter((system) => words.includes(system))
    const cpu = processors.filter((processor) => words.includes(processor))
    const libc = Object.keys(libraries).filter((library) => words.includes(library))
    if (cpu.length === 0 || !/^\d/.test(version)) throw new Error(`${name}@${version} names no platform`)
    lock.packages[place] = {
      version,
      cpu,
      ...(entry.dev && { dev: true }),
      ...(libc.length > 0 && { libc: libc.map((library) => libraries[library]) }),
      optional: true,
      ...(os.length > 0 && { os }),
    }
    added += 1
  }
}
const packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
console.log(`${added} packages added`)
