-- For wrk: sends the requests of a file in turn, each ended by a byte 1, with a byte 2 where a request puts a number of its own.
local requests, count = {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for text in file:read("*a"):gmatch("[^\1]+") do
    local at = text:find("\2", 1, true)
    requests[#requests + 1] = at and { text:sub(1, at - 1), text:sub(at + 1) } or { text }
  end
  file:close()
end

function request()
  count = count + 1
  local parts = requests[count % #requests + 1]
  if parts[2] == nil then return parts[1] end
  return parts[1] .. string.format("%09d", count) .. parts[2]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"rejected":%d,"lost":%d,"p50Ms":%f,"p99Ms":%f}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
