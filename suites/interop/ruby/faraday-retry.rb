require "faraday"

def call(method, url)
  client = Faraday.new { |f| f.request :retry }
  answer = client.run_request(method.downcase.to_sym, url, nil, nil)
  raise "status #{answer.status}" unless answer.success?
end
