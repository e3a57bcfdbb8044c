package faultserver

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// CallHeader names a call exactly: a driver or a client under test may send it with every attempt.
const CallHeader = "X-Retrygate-Call"

// sign is what a header tells about a request: which call it belongs to, and who sent it.
type sign struct {
	call int // stays equal over the attempts of a call and names it; the lowest number wins; 0: it does not
	key  int // is an idempotency key; the lowest number wins; 0: it is not

	precondition bool
	credential   int // tells API clients apart; the lowest number wins; 0: it does not

	// read takes the id and the attempt number (from 1) out of a value; nil: the value is the id, with no number.
	read func(value string) (id string, attempt int32)

	note func(s *journal.Sent, value string) // writes down what else it says; nil: nothing
}

// signs lists the headers that clients and gateways send, under their canonical names. Each says where it comes from.
// traceparent and X-Request-Id name no call: some clients share them between calls, others mint them for each attempt.
var signs = map[string]sign{
	CallHeader: {call: 1},

	"Amz-Sdk-Invocation-Id":        {call: 2},                         // AWS SDKs
	"Amz-Sdk-Request":              {read: field("attempt=", ";", 0)}, // AWS SDKs: "ttl=...; attempt=2; max=3", from 1
	"X-Goog-Api-Client":            {call: 3, read: gccl},             // Cloud Storage clients
	"X-Goog-Gcs-Idempotency-Token": {call: 4, key: 9},                 // Cloud Storage clients
	"X-Ms-Client-Request-Id":       {call: 5},                         // Azure core guideline: must not change over retries
	"Webhook-Id":                   {call: 6, key: 10},                // Standard Webhooks: receivers use it as an idempotency key
	"Svix-Id":                      {call: 7, key: 11},                // the same, before it was a standard
	"X-Shopify-Webhook-Id":         {call: 8},

	"Idempotency-Key":            {call: 11, key: 1, read: structured}, // IETF httpapi draft: a quoted string, often sent bare
	"X-Idempotency-Key":          {call: 12, key: 2},
	"Paypal-Request-Id":          {call: 13, key: 3},
	"Cko-Idempotency-Key":        {call: 14, key: 4}, // Checkout.com
	"Chargebee-Idempotency-Key":  {call: 15, key: 5},
	"I-Twilio-Idempotency-Token": {call: 16, key: 6},
	"X-Payout-Idempotency":       {call: 17, key: 7},
	"X-Qonto-Idempotency-Key":    {call: 18, key: 8},

	"Grpc-Previous-Rpc-Attempts": {read: number(1)}, // gRPC A6: absent first, then 1
	"X-Envoy-Attempt-Count":      {note: keepHop},   // Envoy: from 1
	"X-Stainless-Retry-Count":    {read: number(1)}, // OpenAI and other generated SDKs: from 0
	"Svix-Retry-Count":           {read: number(1)}, // absent first, then 1 (the Python client counts from 0)

	"If-Match":            {precondition: true},
	"If-None-Match":       {precondition: true},
	"If-Unmodified-Since": {precondition: true},

	"Traceparent":       {note: keepTrace},
	"X-Request-Id":      {note: keepRequest},
	"Via":               {note: keepProxied},
	"Forwarded":         {note: keepProxied},
	"X-Forwarded-For":   {note: keepProxied},
	"Range":             {note: keepRange},
	"Content-Range":     {note: keepRange},
	"Early-Data":        {note: keepEarlyData},
	"Date":              {note: stamp("Date")},
	"X-Amz-Date":        {note: stamp("X-Amz-Date")},
	"Webhook-Timestamp": {note: stamp("Webhook-Timestamp")},
	"Svix-Timestamp":    {note: stamp("Svix-Timestamp")},

	"Authorization":  {credential: 1},
	"X-Api-Key":      {credential: 2},
	"Api-Key":        {credential: 3},
	"X-Goog-Api-Key": {credential: 4},
}

// identify fills in what the headers say about the call, and returns the credentials among them. It looks at the headers
// that are there, not for each of the many that could be.
func identify(a *journal.Arrival, header http.Header) (secret string) {
	const none = 1 << 30
	call, key, credential := none, none, none
	for name, values := range header {
		s, ok := signs[name]
		if !ok || len(values) == 0 {
			continue
		}
		id, attempt := values[0], int32(0)
		if s.read != nil {
			id, attempt = s.read(id)
		}
		a.Claim = max(a.Claim, attempt)
		a.Precondition = a.Precondition || s.precondition
		if s.note != nil {
			s.note(&a.Sent, values[0])
		}
		if id == "" {
			continue
		}
		if s.call > 0 && s.call < call {
			call, a.Call, a.CallBy = s.call, bounded(id), name
		}
		if s.key > 0 && s.key < key {
			key, a.Key = s.key, bounded(id)
		}
		if s.credential > 0 && s.credential < credential {
			credential, secret = s.credential, id
		}
	}
	if a.Claim == 0 {
		a.Claim = a.Hop
	}
	return secret
}

// field reads the attempt number that follows a word, up to an end; add makes the first attempt 1.
func field(word, end string, add int32) func(string) (string, int32) {
	return func(value string) (string, int32) {
		_, rest, ok := strings.Cut(value, word)
		if !ok {
			return "", 0
		}
		digits, _, _ := strings.Cut(rest, end)
		return number(add)(strings.TrimSpace(digits))
	}
}

// number reads a value that is an attempt number; add makes the first attempt 1.
func number(add int32) func(string) (string, int32) {
	return func(value string) (string, int32) {
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 || n > 1<<30 {
			return "", 0
		}
		return "", int32(n) + add
	}
}

// gccl reads "gl-go/1.26 gccl-invocation-id/UUID gccl-attempt-count/2".
func gccl(value string) (string, int32) {
	_, rest, _ := strings.Cut(value, "gccl-invocation-id/")
	id, _, _ := strings.Cut(rest, " ")
	_, attempt := field("gccl-attempt-count/", " ", 0)(value)
	return id, attempt
}

// structured takes the quotes off a structured-field string.
func structured(value string) (string, int32) {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	return value, 0
}

// longest is how much of a name or id is kept; what is longer is kept as its hash.
const longest = 128

func bounded(id string) string {
	if len(id) <= longest {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:16])
}
