// A broker with the package aedes. Its argument is a file with: the folder of the package, where to listen with TLS and without, the
// files of certificate and key, and names with passwords.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { pathToFileURL } from 'node:url'

const work = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const find = createRequire(pathToFileURL(work.folder + '/package.json'))
const { Aedes } = await import(pathToFileURL(find.resolve('aedes')).href)
const broker = await Aedes.createBroker({ concurrency: 10000 })
broker.authenticate = (client, name, password, done) => done(null, work.passwords[name] === String(password))
createServer({ noDelay: true }, broker.handle).listen(work.plain, '127.0.0.1')
const secure = { cert: readFileSync(work.certificate), key: readFileSync(work.key), noDelay: true }
createSecureServer(secure, broker.handle).listen(work.secure, '127.0.0.1')
