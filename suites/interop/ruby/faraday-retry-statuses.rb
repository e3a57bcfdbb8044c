require "date" # that faraday 1.1.0 takes for loaded
require "faraday"

def call(method, url)
  client = Faraday.new do |f|
    f.request :retry, max: 3, interval: 0.5, interval_randomness: 0.5, backoff_factor: 2,
                      retry_statuses: [429, 500, 502, 503, 504],
                      exceptions: Faraday::Request::Retry::DEFAULT_EXCEPTIONS + [Faraday::ConnectionFailed]
  end
  answer = client.run_request(method.downcase.to_sym, url, nil, nil)
  raise "status #{answer.status}" unless answer.success?
end
