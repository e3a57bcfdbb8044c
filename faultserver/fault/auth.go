package fault

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "auth",
		Summary: "answers 401 to requests without a current bearer token, and gives tokens at a refresh endpoint that works, fails, or gives tokens that are never good",
		Example: "{auth: {refresh: /oauth/token, lives: 10m, uses: 100}}",
		New:     func() Fault { return &Auth{} },
	})
}

// Auth stands guard before an API whose tokens expire. Requests with a token that it gave, and that is still good, are left
// alone. Each token counts by itself, so no client spends another's. The rule has to match the refresh endpoint too. Tokens
// live in memory only; the journal has keyed hashes of them.
type Auth struct {
	Refresh string        `yaml:"refresh" doc:"path of the endpoint that gives tokens; default /token"`
	Lives   time.Duration `yaml:"lives" doc:"how long a token is good; default for ever"`
	Uses    int           `yaml:"uses" doc:"how many requests a token is good for; default any number"`
	Fails   int           `yaml:"fails" doc:"status that the endpoint answers in place of a token"`
	Loops   bool          `yaml:"loops" doc:"the endpoint gives tokens that are never good"`

	mu          sync.Mutex
	now, before map[string]*grant // tokens that were given lately
}

// grant is what is known of a token.
type grant struct {
	expires time.Time // zero: never
	uses    int       // that are left
}

// maxGrants is how many tokens are remembered before the older ones begin to be forgotten.
const maxGrants = 64 << 10

// Fresh returns the same guard, with no token given.
func (a *Auth) Fresh() Fault {
	return &Auth{Refresh: a.Refresh, Lives: a.Lives, Uses: a.Uses, Fails: a.Fails, Loops: a.Loops}
}

// Select returns the answer to a request that is not let through.
func (a *Auth) Select(w http.ResponseWriter, r *http.Request) Fault {
	refresh := a.Refresh
	if refresh == "" {
		refresh = "/token"
	}
	if r.URL.Path == refresh {
		return a.refresh(w, now(r.Context()))
	}
	token, ok := bearer(r)
	if ok && a.spend(token, now(r.Context())) {
		return nil
	}
	challenge := `Bearer realm="retrygate"`
	if ok {
		challenge += `, error="invalid_token", error_description="the token has expired"`
	}
	return &Status{Code: http.StatusUnauthorized, Headers: map[string]string{"WWW-Authenticate": challenge}}
}

// Inject answers by itself, or lets next answer.
func (a *Auth) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if answer := a.Select(w, r); answer != nil {
		answer.Inject(w, r, next)
		return
	}
	next.ServeHTTP(w, r)
}

// bearer reads the token that a request shows.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

// refresh answers at the refresh endpoint (RFC 6749 5.1). expires_in is rounded down: a token is good for that long.
func (a *Auth) refresh(w http.ResponseWriter, now time.Time) Fault {
	if a.Fails != 0 {
		return &Status{Code: a.Fails}
	}
	var token [16]byte
	for random, i := draw(w), 0; i < len(token); i++ {
		token[i] = byte(random.UintN(256))
	}
	text := hex.EncodeToString(token[:])
	if !a.Loops {
		a.give(text, now)
	}
	body := `{"access_token":"` + text + `","token_type":"Bearer"`
	if s := int64(a.Lives / time.Second); s > 0 {
		body += `,"expires_in":` + strconv.FormatInt(s, 10)
	}
	headers := map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store"}
	return &Status{Code: http.StatusOK, Headers: headers, Body: body + "}\n"}
}

// give makes a token good.
func (a *Auth) give(token string, now time.Time) {
	g := &grant{uses: a.Uses}
	if a.Lives > 0 {
		g.expires = now.Add(a.Lives)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now == nil || len(a.now) >= maxGrants {
		a.before, a.now = a.now, map[string]*grant{}
	}
	a.now[token] = g
}

// spend uses a token once; false when it is not good, or not any more.
func (a *Auth) spend(token string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, ok := a.now[token]
	if !ok {
		g, ok = a.before[token]
	}
	if !ok || !g.expires.IsZero() && !now.Before(g.expires) {
		return false
	}
	if a.Uses > 0 {
		if g.uses == 0 {
			return false
		}
		g.uses--
	}
	return true
}

// Validate wants settings that can be, and one way in which the endpoint misbehaves.
func (a *Auth) Validate(n strict.Node) {
	if _, ok := n.Field("refresh"); ok && !strings.HasPrefix(a.Refresh, "/") {
		n.At("refresh").Fail("refresh: %q is no path; it starts with a slash, like /oauth/token", a.Refresh)
	}
	if _, ok := n.Field("lives"); ok {
		strict.Above(n, "lives", a.Lives, 0)
	}
	if _, ok := n.Field("uses"); ok {
		strict.AtLeast(n, "uses", a.Uses, 1)
	}
	if _, ok := n.Field("fails"); ok {
		strict.Between(n, "fails", a.Fails, 400, maxStatus)
	}
	if a.Fails != 0 && a.Loops {
		n.At("loops").Fail("fails and loops cannot stand together; the endpoint gives tokens or it does not")
	}
	if a.Fails != 0 && (a.Lives != 0 || a.Uses != 0) {
		n.At("fails").Fail("no token is given where fails is set, so lives and uses say nothing; leave these out")
	}
	if a.Loops && (a.Lives != 0 || a.Uses != 0) {
		n.At("loops").Fail("tokens that are never good have no lives and uses; leave these out")
	}
}
