require "net/http"

def call(method, url)
  uri = URI(url)
  request = Net::HTTPGenericRequest.new(method, method == "POST", true, uri)
  answer = Net::HTTP.start(uri.host, uri.port) { |http| http.request(request) }
  answer.value # raises unless it is 2xx
end
