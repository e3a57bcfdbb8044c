package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// upstream is the --upstream flag: an absolute http or https URL.
type upstream struct{ *url.URL }

func (u *upstream) String() string {
	if u.URL == nil {
		return ""
	}
	return u.URL.String()
}

func (*upstream) Type() string { return "URL" }

func (u *upstream) Set(s string) error {
	parsed, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "":
		return errors.New("must be a whole URL, like https://staging.example.com")
	case parsed.User != nil:
		return errors.New("must not hold credentials; the client's own are passed on")
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return errors.New("must not hold a query or a fragment, only an address and a path")
	}
	u.URL = parsed
	return nil
}

// reachTime is how long an upstream may take to accept a connection.
const reachTime = 10 * time.Second

// reach makes sure that the upstream takes a connection: a client that meets nothing but 502 would be judged by what the
// harness did to it.
func (u *upstream) reach(ctx context.Context) error {
	if u.URL == nil {
		return nil
	}
	ports := map[string]string{"http": "80", "https": "443"}
	address := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme]))
	conn, err := (&net.Dialer{Timeout: reachTime}).DialContext(ctx, "tcp", address)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("verify: upstream %s does not answer: %w", u, err)
	}
	return conn.Close()
}
