package fault

import (
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "hang",
		Summary: "reads the request and never answers, until the client leaves or the server closes",
		Example: "{hang: {for: 30s}}",
		New:     func() Fault { return &Hang{} },
	})
}

// Hang takes a request and lets it wait.
type Hang struct {
	For time.Duration `yaml:"for"` // then the connection is closed; 0: for as long as the client waits
}

// Last says that nothing behind acts.
func (*Hang) Last() {}

// Inject waits; next is not called.
func (h *Hang) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	if h.For > 0 && wait(r.Context(), h.For) {
		hangUp(w)
		return
	}
	<-r.Context().Done()
	abort() // to return would send an empty 200
}

// Validate wants no negative time.
func (h *Hang) Validate(n strict.Node) {
	if _, ok := n.Field("for"); ok {
		strict.Above(n, "for", h.For, 0)
	}
}
