package faultserver

// entrySchema describes an entry of the journal as journal.WriteEntry writes it. A test holds the two together.
func entrySchema() map[string]any {
	properties := map[string]any{}
	for _, f := range entryFields {
		properties[f.name] = map[string]any{"type": f.kind, "description": f.about}
	}
	properties["raw"].(map[string]any)["additionalProperties"] = map[string]any{"type": "string"}
	return map[string]any{
		"type": "object", "required": []string{"seq", "at_ns"}, "properties": properties,
		"description": "One exchange. What is empty, 0 or false is left out; times are nanoseconds since the run began.",
	}
}

var entryFields = []struct{ name, kind, about string }{
	{"seq", "integer", "order of arrival, from 1"},
	{"at_ns", "integer", "when the request's head was complete"},
	{"took_ns", "integer", "from then until the last byte was handed over or the fault took effect"},
	{"gone_ns", "integer", "when the client left before that"},
	{"client", "string", "who: by listener, header, hashed API key or address"},
	{"call", "string", "id that the client gives all attempts of a call"},
	{"claim", "integer", "attempt number that the client states, or a proxy where the client does not"},
	{"method", "string", "as sent"},
	{"path", "string", "as sent"},
	{"query", "string", "as sent"},
	{"key", "string", "idempotency key"},
	{"precondition", "boolean", "If-Match, If-None-Match or If-Unmodified-Since was sent"},
	{"closing", "boolean", "the client wanted the connection closed behind the answer: Connection: close, or HTTP/1.0"},
	{"auth", "string", "keyed hash of the credentials, in hex"},
	{"body_sum", "string", "hash of the body, in hex"},
	{"body_len", "integer", "bytes of it that came"},
	{"body_whole", "boolean", "all of it came"},
	{"early", "boolean", "a fault was to act before it was read"},
	{"conn", "integer", "the connection"},
	{"proto", "string", "HTTP/1.1 or HTTP/2.0"},
	{"tls", "boolean", "it came over TLS, or was to"},
	{"handshake", "string", "why the TLS handshake failed; behind \"alert: \", what the client said"},
	{"status", "integer", "the status that was sent; left out if none was"},
	{"retry_after", "string", "Retry-After as sent"},
	{"cut", "boolean", "the answer was broken off, or never given"},
	{"open", "boolean", "still going on"},
	{"rule", "string", "the rule whose fault acted"},
	{"fault", "string", "the kinds of fault that acted, joined by +"},
	{"unprocessed", "boolean", "the client was told that nothing was done: REFUSED_STREAM, or GOAWAY with a stream below"},
	{"upstream", "integer", "the status that the upstream gave, or the stub behind a fault"},
	{"call_by", "string", "the header that call was read from"},
	{"trace", "string", "trace-id of a valid traceparent header, in hex"},
	{"request", "string", "hash of X-Request-Id, in hex"},
	{"hop", "integer", "attempt number that a proxy states (x-envoy-attempt-count)"},
	{"proxied", "boolean", "a proxy passed it on: Via, Forwarded or X-Forwarded-For was there"},
	{"range", "string", "Range as sent"},
	{"early_data", "boolean", "Early-Data: 1 was sent"},
	{"stamp", "string", "hash of Date, X-Amz-Date, Webhook-Timestamp and Svix-Timestamp, which are renewed for each attempt, in hex"},
	{"marks", "string", "while headers are calibrated: those that may name calls, as Name=hash, joined by spaces"},
	{"location", "string", "where a 3xx answer sends the client, as sent"},
	{"directive", "string", "whether to retry, where the answer says so outright: yes, no, or pushback after retry_after_ms"},
	{"retry_after_ms", "string", "retry-after-ms, x-ms-retry-after-ms or grpc-retry-pushback-ms, as sent"},
	{"date", "string", "the answer's own Date, where Retry-After is no number and the Date was set on purpose"},
	{"sends", "integer", "how often the request was sent to the upstream, where it was not once with an answer"},
	{"raw", "object", "by name, in base64: fields that are not UTF-8"},
}
