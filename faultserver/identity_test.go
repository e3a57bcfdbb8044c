package faultserver

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers []string // name, value ...
		call    string
		claim   int32
		key     string
	}{
		{"nothing", []string{"Accept", "*/*"}, "", 0, ""},
		{"own header", []string{CallHeader, "a", "Idempotency-Key", "k"}, "a", 0, "k"},
		{"idempotency key", []string{"Idempotency-Key", "8e03978e"}, "8e03978e", 0, "8e03978e"},
		{"quoted key", []string{"Idempotency-Key", `"8e03978e"`}, "8e03978e", 0, "8e03978e"},
		{"paypal", []string{"PayPal-Request-Id", "p"}, "p", 0, "p"},
		{"aws", []string{"amz-sdk-invocation-id", "i", "amz-sdk-request", "ttl=20260101T000000Z; attempt=2; max=3"}, "i", 2, ""},
		{"aws, first attempt", []string{"amz-sdk-invocation-id", "i", "amz-sdk-request", "attempt=1"}, "i", 1, ""},
		{"cloud storage", []string{"x-goog-api-client", "gl-go/1.26 gccl-invocation-id/u-1 gccl-attempt-count/3", "x-goog-gcs-idempotency-token", "u-2"}, "u-1", 3, "u-2"},
		{"cloud client without ids", []string{"x-goog-api-client", "gl-go/1.26 gax/2"}, "", 0, ""},
		{"azure", []string{"x-ms-client-request-id", "m"}, "m", 0, ""},
		{"webhook", []string{"webhook-id", "msg_1", "webhook-timestamp", "1"}, "msg_1", 0, "msg_1"},
		{"svix retry", []string{"svix-id", "msg_1", "svix-retry-count", "1"}, "msg_1", 2, "msg_1"},
		{"grpc", []string{"grpc-previous-rpc-attempts", "2"}, "", 3, ""},
		{"envoy", []string{"x-envoy-attempt-count", "2"}, "", 2, ""},
		{"the client's count before the proxy's", []string{"x-envoy-attempt-count", "2", "x-stainless-retry-count", "0"}, "", 1, ""},
		{"stainless", []string{"x-stainless-retry-count", "0"}, "", 1, ""},
		{"nonsense", []string{"x-envoy-attempt-count", "many", "x-stainless-retry-count", "-1", "grpc-previous-rpc-attempts", "99999999999"}, "", 0, ""},
		{"not a call's", []string{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "x-request-id", "r"}, "", 0, ""},
		{"invocation before key", []string{"Idempotency-Key", "k", "amz-sdk-invocation-id", "i"}, "i", 0, "k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			for i := 0; i < len(c.headers); i += 2 {
				header.Set(c.headers[i], c.headers[i+1])
			}
			var a journal.Arrival
			identify(&a, header)
			if a.Call != c.call || a.Claim != c.claim || a.Key != c.key {
				t.Errorf("call %q, claim %d, key %q; want %q, %d, %q", a.Call, a.Claim, a.Key, c.call, c.claim, c.key)
			}
		})
	}
}

func TestIdentifyPrecondition(t *testing.T) {
	for name, want := range map[string]bool{"If-Match": true, "If-None-Match": true, "If-Unmodified-Since": true, "If-Range": false} {
		var a journal.Arrival
		identify(&a, http.Header{name: {"x"}})
		if a.Precondition != want {
			t.Errorf("%s: %v", name, a.Precondition)
		}
	}
}

// The table is looked up by canonical names, and ranks decide which header wins.
func TestSigns(t *testing.T) {
	calls, keys, credentials := map[int]string{}, map[int]string{}, map[int]string{}
	for name, s := range signs {
		if other, ok := credentials[s.credential]; ok && s.credential > 0 {
			t.Errorf("%s and %s have the same rank as credentials", name, other)
		}
		credentials[s.credential] = name
		if http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is not canonical", name)
		}
		if other, ok := calls[s.call]; ok && s.call > 0 {
			t.Errorf("%s and %s have the same rank as call ids", name, other)
		}
		if other, ok := keys[s.key]; ok && s.key > 0 {
			t.Errorf("%s and %s have the same rank as keys", name, other)
		}
		calls[s.call], keys[s.key] = name, name
	}
}

func TestBounded(t *testing.T) {
	long := strings.Repeat("x", longest+1)
	if got := bounded(long); len(got) != len("sha256:")+32 || got == bounded(long+"x") {
		t.Errorf("long id became %q", got)
	}
	if bounded("short") != "short" {
		t.Error("a short id was changed")
	}
}

func TestClient(t *testing.T) {
	s := New(WithClientHeader("X-Tenant"))
	defer s.Close()
	who := func(c *connection, headers ...string) (string, uint64) {
		r := &http.Request{Header: http.Header{}}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return s.client(r, c, identify(new(journal.Arrival), r.Header))
	}
	here := &connection{host: "10.0.0.7"}
	if name, auth := who(here); name != "10.0.0.7" || auth != 0 {
		t.Errorf("nobody in particular: %q, %d", name, auth)
	}
	if name, auth := who(&connection{client: "app-1"}, "X-Tenant", "t", "Authorization", "Bearer a"); name != "app-1" || auth == 0 {
		t.Errorf("listener: %q, %d", name, auth)
	}
	if name, _ := who(here, "X-Tenant", "t", "Authorization", "Bearer a"); name != "t" {
		t.Errorf("header: %q", name)
	}
	a, authA := who(here, "Authorization", "Bearer a")
	b, authB := who(here, "X-Api-Key", "b")
	if a == b || authA == authB || !strings.HasPrefix(a, "key:") || len(a) != len("key:")+8 {
		t.Errorf("keys: %q, %q", a, b)
	}
	if again, _ := who(here, "Authorization", "Bearer a"); again != a {
		t.Errorf("the same key is %q, then %q", a, again)
	}
	other := New()
	defer other.Close()
	if name, _ := other.client(&http.Request{}, here, "Bearer a"); name == a {
		t.Error("two servers hash a secret to the same name")
	}
}

// A signature differs from attempt to attempt; the client does not.
func TestClientOfSignedRequests(t *testing.T) {
	s := New()
	defer s.Close()
	for _, pair := range [][3]string{
		{"AWS4-HMAC-SHA256 Credential=AKIA1/20260101/eu/s3/aws4_request, Signature=aa", "AWS4-HMAC-SHA256 Credential=AKIA1/20260102/eu/s3/aws4_request, Signature=bb", "AWS4-HMAC-SHA256 Credential=AKIA2/20260101/eu/s3/aws4_request, Signature=aa"},
		{`Digest username="u", nonce="1", response="a"`, `Digest username="u", nonce="2", response="b"`, `Digest username="v", nonce="1", response="a"`},
	} {
		var names [3]string
		var auths [3]uint64
		for i, value := range pair {
			names[i], auths[i] = s.client(&http.Request{}, &connection{}, value)
		}
		if names[0] != names[1] || names[0] == names[2] || auths[0] == auths[1] {
			t.Errorf("%s: clients %v, auth %v", pair[0], names, auths)
		}
	}
}

// Whoever wants the connection closed is not to blame for a new one.
func TestClosingIsJournalled(t *testing.T) {
	for _, tt := range []struct {
		head string
		want bool
	}{
		{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true},
		{"GET / HTTP/1.0\r\nHost: a\r\n\r\n", true},
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", false},
	} {
		s := New()
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(tt.head)))
		if err != nil {
			t.Fatal(err)
		}
		s.ServeHTTP(discards{http.Header{}}, r)
		if got := s.Journal().Entries()[0].Closing; got != tt.want {
			t.Errorf("%q: closing is %v", tt.head, got)
		}
		s.Close()
	}
}

// discards is a client that does not listen.
type discards struct{ header http.Header }

func (d discards) Header() http.Header         { return d.header }
func (d discards) Write(b []byte) (int, error) { return len(b), nil }
func (d discards) WriteHeader(int)             {}
