import axios from 'axios';
import axiosRetry from 'axios-retry';

axiosRetry(axios, { retryDelay: axiosRetry.exponentialDelay });

export async function call(method, url) {
  await axios.request({ method, url });
}
