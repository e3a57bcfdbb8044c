import ky from 'ky';

const [method, url] = process.argv.slice(2);
await ky(url, { method }).text();
