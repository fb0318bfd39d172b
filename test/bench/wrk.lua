-- Sends the requests of a file one after the other, again and again, and prints what was measured as a line of JSON.
-- Arguments: the file, with a NUL after each request, and the expected statuses, separated by commas.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  requests = {}
  for text in file:read("*a"):gmatch("[^%z]+") do
    table.insert(requests, text)
  end
  file:close()
  expected = {}
  for status in args[2]:gmatch("%d+") do
    expected[tonumber(status)] = true
  end
  sent = 0
  unexpected = nil
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function response(status, headers, body)
  if not expected[status] and not unexpected then
    unexpected = "HTTP " .. status .. "\n" .. body:sub(1, 2000)
  end
end

local function quoted(text)
  if not text then
    return "null"
  end
  return '"' .. text:gsub('[%c"\\]', function(char) return string.format("\\u%04x", char:byte()) end) .. '"'
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"micros":%d,"p50":%.1f,"p99":%.1f,"cpuSeconds":%.3f,"failures":%d,"unexpected":%s}',
    summary.requests,
    summary.duration,
    latency:percentile(50),
    latency:percentile(99),
    os.clock(),
    errors.connect + errors.read + errors.write + errors.timeout,
    quoted(threads[1]:get("unexpected"))
  ))
end
