require "net/http"

def call(method, url)
  uri = URI(url)
  Net::HTTP.start(uri.host, uri.port) do |http|
    2.times { http.request(Net::HTTPGenericRequest.new(method, method == "POST", true, uri)) }
  end
end
