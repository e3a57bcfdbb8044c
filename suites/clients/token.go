package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// tokens is where the workers of one client get their bearer token from. It starts with one that has expired.
type tokens struct {
	shared bool // one refresh serves all

	mu      sync.Mutex
	current string
	out     bool // a refresh was refused: the user has to sign in anew
}

func (t *tokens) get() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// renew replaces the token that was used, unless somebody did so meanwhile.
func (t *tokens) renew(ctx context.Context, h *http.Client, url, used string) error {
	if !t.shared {
		token, err := refresh(ctx, h, url)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.current = token
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out {
		return errors.New("signed out")
	}
	if t.current != used {
		return nil
	}
	token, err := refresh(ctx, h, url)
	t.current, t.out = token, err != nil
	return err
}

// refresh asks /token for a token (RFC 6749 6).
func refresh(ctx context.Context, h *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/token", strings.NewReader("grant_type=refresh_token"))
	if err != nil {
		return "", err
	}
	resp, err := h.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("no new token: the server answered %d", resp.StatusCode)
	}
	var granted struct {
		Token string `json:"access_token"`
	}
	err = json.NewDecoder(resp.Body).Decode(&granted)
	return granted.Token, err
}

// withToken makes a call as p does, with a token. When it is answered 401, two more calls are under way with the same token;
// each is sent again after a refresh, so many times.
func withToken(p policy, times int, shared bool) func(ctx context.Context, h *http.Client, url string) error {
	return func(ctx context.Context, h *http.Client, url string) error {
		t := &tokens{shared: shared, current: "expired"}
		var others sync.WaitGroup
		defer others.Wait()
		started := sync.OnceFunc(func() {
			for i := range 2 {
				others.Go(func() { _ = t.call(ctx, p, h, url, fmt.Sprintf("/orders/%d", i+1), times, func() {}) })
			}
		})
		return t.call(ctx, p, h, url, "/orders/0", times, started)
	}
}

// call makes one call. The policy is its own copy.
func (t *tokens) call(ctx context.Context, p policy, h *http.Client, url, path string, times int, refused func()) error {
	used := ""
	p.token = func() string {
		used = t.get()
		return used
	}
	p.around = func(ctx context.Context, _ int, send func(context.Context) outcome) outcome {
		o := send(ctx)
		for range times {
			if o.status != http.StatusUnauthorized {
				break
			}
			refused()
			if !sleep(ctx, 20*time.Millisecond) || t.renew(ctx, h, url, used) != nil { // all have met the 401 by then
				break
			}
			o = send(ctx)
		}
		return o
	}
	return p.call(ctx, h, url+path)
}
