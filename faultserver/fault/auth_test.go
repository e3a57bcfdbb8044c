package fault_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// apiClient asks an API that is behind auth.
type apiClient struct {
	*http.Client
	token string
}

// call asks the API, and returns the status and the challenge.
func (c *apiClient) call(t *testing.T) (status int, challenge string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://t/api", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "bearer "+c.token)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("WWW-Authenticate")
}

// refresh takes a new token, and returns the status and how long it is said to live.
func (c *apiClient) refresh(t *testing.T, path string) (status, seconds int) {
	t.Helper()
	resp, err := c.Post("http://t"+path, "application/x-www-form-urlencoded", strings.NewReader("grant_type=refresh_token"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
	}
	err = json.NewDecoder(resp.Body).Decode(&body)
	if resp.StatusCode == 200 && (err != nil || len(body.Token) != 32 || body.Type != "Bearer" || body.Token == c.token || resp.Header.Get("Cache-Control") != "no-store") {
		t.Errorf("%+v, %v", body, err)
	}
	c.token = body.Token
	return resp.StatusCode, body.Expires
}

func TestAuthTokensExpire(t *testing.T) {
	for name, c := range map[string]struct {
		auth  *fault.Auth
		path  string
		waits []time.Duration // before each call with one token
		want  string
		says  int
	}{
		"never":         {&fault.Auth{}, "/token", []time.Duration{0, 1000 * time.Hour}, "200 200", 0},
		"after a time":  {&fault.Auth{Lives: 2500 * time.Millisecond}, "/token", []time.Duration{0, 2499 * time.Millisecond, time.Millisecond, 0}, "200 200 401 401", 2},
		"after a blink": {&fault.Auth{Lives: 10 * time.Millisecond}, "/token", []time.Duration{9 * time.Millisecond, time.Millisecond}, "200 401", 0},
		"after two":     {&fault.Auth{Uses: 2}, "/token", []time.Duration{0, time.Hour, 0, 0}, "200 200 401 401", 0},
		"either way":    {&fault.Auth{Uses: 2, Lives: time.Second}, "/token", []time.Duration{0, time.Second}, "200 401", 1},
		"never good":    {&fault.Auth{Loops: true}, "/token", []time.Duration{0, 0}, "401 401", 0},
		"another place": {&fault.Auth{Refresh: "/oauth/token"}, "/oauth/token", []time.Duration{0}, "200", 0},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, c.auth, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
				api := &apiClient{Client: client}
				if status, challenge := api.call(t); status != 401 || challenge != `Bearer realm="retrygate"` {
					t.Errorf("without a token: %d, %s", status, challenge)
				}
				for range 2 { // what happens to one token happens to the next
					if status, says := api.refresh(t, c.path); status != 200 || says != c.says {
						t.Errorf("refresh: %d, a token for %d s; want %d", status, says, c.says)
					}
					var got []string
					for _, wait := range c.waits {
						time.Sleep(wait)
						status, challenge := api.call(t)
						got = append(got, fmt.Sprint(status))
						if status == 401 && !strings.Contains(challenge, `error="invalid_token"`) {
							t.Error(challenge)
						}
					}
					if strings.Join(got, " ") != c.want {
						t.Errorf("got %v, want %s", got, c.want)
					}
				}
			})
		})
	}
}

func TestAuthRefreshFails(t *testing.T) {
	virtual(t, &fault.Auth{Fails: 503}, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
		api := &apiClient{Client: client, token: "made up"}
		if status, _ := api.refresh(t, "/token"); status != 503 {
			t.Errorf("refresh: %d", status)
		}
		if status, _ := api.call(t); status != 401 || o.asked.Load() != 0 {
			t.Errorf("%d, the backend was asked %d times", status, o.asked.Load())
		}
	})
}

// TestAuthTokensAreOneClientsOwn: what one does with a token costs another nothing, and a fresh guard knows no tokens.
func TestAuthTokensAreOneClientsOwn(t *testing.T) {
	auth := &fault.Auth{Uses: 3}
	virtual(t, auth, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
		a, b := &apiClient{Client: client}, &apiClient{Client: client}
		a.refresh(t, "/token")
		b.refresh(t, "/token")
		for range 5 {
			a.call(t)
		}
		if status, _ := a.call(t); status != 401 {
			t.Error(status)
		}
		if status, _ := b.call(t); status != 200 {
			t.Error(status)
		}
		w := &answer{header: http.Header{}}
		r, _ := http.NewRequest(http.MethodGet, "http://t/api", nil)
		r.Header.Set("Authorization", "Bearer "+b.token)
		if again := auth.Fresh().(*fault.Auth).Select(w, r); again == nil {
			t.Error("a fresh guard knows the token of another")
		}
	})
}

// TestAuthCountsUsesExactly has many clients at once spend one token.
func TestAuthCountsUsesExactly(t *testing.T) {
	virtual(t, &fault.Auth{Uses: 30}, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
		api := &apiClient{Client: client}
		api.refresh(t, "/token")
		var good atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if status, _ := api.call(t); status == 200 {
					good.Add(1)
				}
			})
		}
		if all.Wait(); good.Load() != 30 {
			t.Errorf("%d got through, want 30", good.Load())
		}
	})
}
