import axios from 'axios';
import axiosRetry from 'axios-retry';

const [method, url] = process.argv.slice(2);
axiosRetry(axios, { retryDelay: axiosRetry.exponentialDelay });
await axios.request({ method, url });
