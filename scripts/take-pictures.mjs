// Takes the README's pictures of the dashboard: `npm run build && node scripts/take-pictures.mjs`. Starts `holdfast dev --demo` in its own folder,
// waits until the overview has data, and writes docs/images/overview-light.png and -dark.png.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'docs', 'images')
const port = 8421
const url = `http://127.0.0.1:${port}`
const trafficMs = Number(process.env.HOLDFAST_PICTURE_TRAFFIC_MS ?? 240_000)
const maxBytes = 150_000

const data = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'))
const node = spawn(
  process.execPath,
  [join(root, 'dist/cli/main.js'), 'dev', '--demo', '--port', String(port), '--data-dir', data],
  {
    stdio: ['ignore', 'ignore', 'inherit'],
    cwd: data,
  },
)

async function isUp() {
  const answer = await fetch(`${url}/readyz`).catch(() => null)
  return answer?.ok === true
}

/** Creates an operator's key: an administrator would see the button that ends the demo. */
async function createKey(adminKey) {
  const answer = await fetch(`${url}/v1/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'maria.keller', role: 'operator' }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()).key
}

async function takePicture(theme, key) {
  const browser = await chromium.launch({
    executablePath: process.env.HOLDFAST_TEST_BROWSER ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', '--disable-lcd-text'],
  })
  try {
    const page = await browser.newPage({
      baseURL: url,
      colorScheme: theme,
      viewport: { width: 1280, height: 860 },
      timezoneId: 'UTC',
      locale: 'en-GB',
    })
    await page.goto('/')
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${url}/`)
    await page.goto('/?range=1h')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.locator('.uplot canvas').first().waitFor()
    const path = join(folder, `overview-${theme}.png`)
    await page.screenshot({ path })
    const { size } = statSync(path)
    if (size > maxBytes) throw new Error(`${path} has ${size} bytes, more than ${maxBytes}`)
    process.stdout.write(`${path}: ${size} bytes\n`)
  } finally {
    await browser.close()
  }
}

try {
  mkdirSync(folder, { recursive: true })
  while (!(await isUp())) await sleep(200)
  await sleep(trafficMs)
  const key = await createKey(readFileSync(join(data, 'admin-key'), 'utf8').trim())
  for (const theme of ['light', 'dark']) await takePicture(theme, key)
} finally {
  node.kill('SIGTERM')
  await once(node, 'exit')
  rmSync(data, { recursive: true, force: true })
}
