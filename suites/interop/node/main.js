// Runs a client, named first: one call with the method and the URL that follow, or without them a call for each line on standard
// input, all side by side (retrygate verify --worker=shared).
import { createInterface } from 'node:readline';

const [client, method, url] = process.argv.slice(2);
const { call } = await import(`./${client}.js`);

async function line(id, address) {
  try {
    await call('GET', `${address}/driver/status`);
    process.stdout.write(`${id}\n`);
  } catch (error) {
    process.stdout.write(`${id} ${String(error).replaceAll('\n', ' ')}\n`);
  }
}

if (url) {
  await call(method, url);
} else {
  for await (const words of createInterface({ input: process.stdin })) line(...words.split(' '));
}
