import got from 'got';

export async function call(method, url) {
  await got(url, { method });
}
