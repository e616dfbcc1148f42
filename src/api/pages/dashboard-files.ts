import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export interface DashboardFile {
  readonly contentType: string
  readonly bytes: Buffer
  readonly gzipped: Buffer
}

/** The output of Vite: the page, and the files that it loads, with a hash in their names. */
export interface DashboardFiles {
  readonly page: string
  readonly assets: ReadonlyMap<string, DashboardFile>
}

/** In the package: beside this file's folder. In a checkout, where tests run the sources unbuilt: in `dist`. */
const folders = ['../../dashboard/', '../../../dist/dashboard/'].map((path) => new URL(path, import.meta.url))

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Null if the dashboard has not been built. About a megabyte, read once and cached. */
export function readDashboardFiles(): DashboardFiles | null {
  for (const folder of folders) {
    const page = readOrNull(new URL('index.html', folder))
    if (page === null || page.includes('/main.tsx')) continue
    const assetFolder = new URL('assets/app/', folder)
    const assets = new Map<string, DashboardFile>()
    for (const name of readdirSync(fileURLToPath(assetFolder))) {
      const contentType = contentTypes[name.split('.').at(-1) ?? '']
      if (contentType === undefined) continue
      const bytes = readFileSync(new URL(name, assetFolder))
      assets.set(name, { contentType, bytes, gzipped: gzipSync(bytes) })
    }
    return { page, assets }
  }
  return null
}

function readOrNull(url: URL): string | null {
  try {
    return readFileSync(url, 'utf8')
  } catch {
    return null
  }
}
