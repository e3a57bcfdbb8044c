import ky from 'ky';

export async function call(method, url) {
  await ky(url, { method }).text();
}
