# Runs a client, named first: one call with the method and the URL that follow, or without them a call for each line on standard
# input, all side by side (retrygate verify --worker=shared).
client, method, url = ARGV
require_relative client

def line(id, address)
  call("GET", "#{address}/driver/status")
  $stdout.write("#{id}\n")
rescue StandardError => e
  $stdout.write("#{id} #{e.inspect.tr("\n", " ")}\n")
end

$stdout.sync = true
if url
  call(method, url)
else
  $stdin.each_line.map { |words| Thread.new { line(*words.split) } }.each(&:join)
end
